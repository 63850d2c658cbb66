import type { ToolDefinition } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { checkTogether } from "./check-together.ts";

const withCodes = (...codes: readonly string[]): ToolDefinition => ({
  tool_name: "search",
  description: "Finds documents",
  parameters: { type: "object" },
  target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.search",
  after_execution: "suspend",
  options: { retry: "safe", retry_policy: { attempts: 2, backoff_seconds: 1, codes: [...codes] } },
});

describe("[LIM-retry-1] the codes of a retry policy", () => {
  test.each(["rate_limited", "sold_out", "ECONNRESET", "-32603", "404", "com.acme/quota", "ERR::busy"])(
    "%s can be a code",
    (code) => {
      expect(() => checkTogether(withCodes(code))).not.toThrow();
    },
  );

  test.each(["Not ok!", " rate_limited", "rate_limited,tool_timeout", "rate limited", "*", "\u0000"])(
    "%j is refused by its path, and is not repeated",
    (code) => {
      expect(() => checkTogether(withCodes("rate_limited", code))).toThrow(
        expect.objectContaining({
          code: "bad_request",
          message:
            "options.retry_policy.codes[1] is not a code: a code has no spaces and only letters, digits and _ - . : /, such as rate_limited",
          detail: { path: "$.options.retry_policy.codes[1]" },
        }),
      );
    },
  );
});
