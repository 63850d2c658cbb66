import { ERROR_TABLE } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { adviceForCall, lostServiceOf } from "./call-advice.ts";

const ID = "01a1e4c1f8707000a639951c474f062c";

describe("[SEE-8] what is advised about a failed call", () => {
  /** Codes of calls whose outcome is known to be nothing, or that a person canceled: making the call again is safe advice. */
  const AGAIN_IS_SAFE: ReadonlySet<string> = new Set([
    "queue_timeout",
    "canceled",
    "approval_denied",
    "approval_expired",
    "breaker_open",
    "rate_limited",
    "storage_error",
    "agent_busy",
    "inbox_not_empty",
    "still_running",
  ]);

  test.each(Object.keys(ERROR_TABLE))("%s: names the call at most as an id, and never a flag of a request", (code) => {
    const advice = adviceForCall(code, ID);
    expect(advice).not.toMatch(/--project|--token|--key|check the name/);
    expect(advice).not.toContain("ID");
    // A call that may have had its effect is not made again without a look.
    if (advice.includes("calls retry") && code !== "outcome_unknown") expect(AGAIN_IS_SAFE).toContain(code);
  });

  test.each([
    [
      "outcome_unknown",
      `see the cause with: toolplane calls show ${ID}, and look at what the tool did before you make it again with: toolplane calls retry ${ID}`,
    ],
    [
      "tool_timeout",
      "give the tool more time (timeoutSeconds in defineTool, timeout_seconds in Python and in a definition's options), or find out what holds it up",
    ],
    [
      "internal_error",
      `the tool failed in a way that it did not declare: see the cause with: toolplane calls show ${ID}`,
    ],
    ["own_code", `see the cause with: toolplane calls show ${ID}`],
  ])("%s", (code, advice) => {
    expect(adviceForCall(code, ID)).toBe(advice);
  });
});

describe("[SEE-18] a call whose service went away", () => {
  const error = { code: "x", message: "m", detail: { holder: "shop@host:7" } };
  const LOG = "look into the log of service shop@host:7, which stopped answering while it had the call";

  test.each([
    ["outcome_unknown", `${LOG}; look at what the tool did before you make it again with: toolplane calls retry ${ID}`],
    ["upstream_unavailable", `${LOG}, then make it again with: toolplane calls retry ${ID}`],
  ])("%s sends the reader to the log of that service", (code, advice) => {
    expect(adviceForCall(code, ID, lostServiceOf(code, error))).toBe(advice);
  });

  test("a tool's own error, and one that names no service, do not", () => {
    expect(lostServiceOf("internal_error", error)).toBeUndefined();
    expect(lostServiceOf("upstream_unavailable", { detail: { host: "a" } })).toBeUndefined();
    expect(lostServiceOf("outcome_unknown", null)).toBeUndefined();
  });
});
