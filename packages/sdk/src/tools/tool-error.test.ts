import { ToolplaneError, UsageError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { ToolError, understandToolError } from "./tool-error.ts";

describe("understandToolError", () => {
  test.each([
    [
      "a code of the table brings its advice",
      new ToolError("upstream_unavailable", "the shop is closed", { detail: { shop: 3 } }),
      {
        envelope: {
          code: "upstream_unavailable",
          message: "the shop is closed",
          detail: { shop: 3 },
          source: "tool",
          retryable: false,
          http_status: 503,
        },
        retryable: undefined,
      },
    ],
    [
      "a code of the tool's own is carried unchanged",
      new ToolError("out_of_stock", "none left", { retryable: true }),
      {
        envelope: { code: "out_of_stock", message: "none left", source: "tool", retryable: true },
        retryable: true,
      },
    ],
    [
      "a plain error keeps its words, not its stack",
      new Error("boom"),
      {
        envelope: { code: "internal_error", message: "boom", source: "tool", retryable: false, http_status: 500 },
        retryable: undefined,
      },
    ],
    [
      "an error of the plane",
      new ToolplaneError("rate_limited", "slow"),
      {
        envelope: { code: "rate_limited", message: "slow", source: "tool", retryable: true, http_status: 429 },
        retryable: undefined,
      },
    ],
    ["a text", "no", { envelope: { code: "tool_error", message: "no", source: "tool" }, retryable: undefined }],
    [
      "an object with a word of its own about trying again",
      { code: "odd", message: "hm", retryable: true },
      { envelope: { code: "odd", message: "hm", retryable: true, source: "tool" }, retryable: true },
    ],
    [
      "nothing",
      undefined,
      { envelope: { code: "unknown_error", message: "unknown error", source: "tool" }, retryable: undefined },
    ],
  ])("[API-6-S12] %s", (_name, thrown, understood) => {
    expect(understandToolError(thrown)).toEqual(understood);
  });

  test("a ToolError of another copy of this package is one too", () => {
    const other = Object.assign(new Error("hm"), { name: "ToolError", code: "odd", retryable: true });
    expect(understandToolError(other)).toMatchObject({ envelope: { code: "odd", message: "hm" }, retryable: true });
  });

  test("a programmer's mistake does not cross in its own words", () => {
    expect(understandToolError(new UsageError("secret path")).envelope.message).not.toContain("secret");
  });
});
