import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeExit } from "./host-child.ts";
import {
  breakerError,
  canceledError,
  closedError,
  hostSaidError,
  lostError,
  planLost,
  queueFullError,
  timeoutError,
  tooLongError,
} from "./plan-failure.ts";

describe("a lost attempt", () => {
  const lost = { written: true, retrySafe: false, attempts: 1, maxAttempts: 3 };

  test.each([
    ["[HOST-4-9] written and not safe", {}, { again: false, code: "outcome_unknown" }],
    ["[HOST-4-8] not written", { written: false }, { again: true }],
    ["[HOST-4-8] written and safe", { retrySafe: true }, { again: true }],
    [
      "[HOST-4-8] not written, tries used up",
      { written: false, attempts: 3 },
      { again: false, code: "upstream_unavailable" },
    ],
    [
      "[HOST-4-8] safe, tries used up",
      { retrySafe: true, attempts: 3 },
      { again: false, code: "upstream_unavailable" },
    ],
  ])("%s", (_name, change, plan) => {
    expect(planLost({ ...lost, ...change })).toEqual(plan);
  });

  test("[HOST-4-9] what may have had an effect is never run again unless it is safe, and tries always end", () => {
    fc.assert(
      fc.property(fc.boolean(), fc.boolean(), fc.nat(20), fc.nat(10), (written, retrySafe, attempts, maxAttempts) => {
        const plan = planLost({ written, retrySafe, attempts, maxAttempts });
        if (plan.again) expect(attempts < maxAttempts && (retrySafe || !written)).toBe(true);
        else expect(plan.code).toBe(written && !retrySafe ? "outcome_unknown" : "upstream_unavailable");
      }),
    );
  });
});

test("[HOST-4-7] a host's error has its type and its words, never its stack", () => {
  const error = hostSaidError("text", {
    kind: "response",
    id: "1",
    ok: false,
    error: { type: "TypeError", detail: "x is undefined", stack: "at secret.js:1" },
  });
  expect(error.toWire()).toEqual({
    code: "internal_error",
    message: "host text failed: TypeError: x is undefined",
    detail: { type: "TypeError", detail: "x is undefined" },
    retryable: false,
  });
});

test("[SEE-10] what a host said last, and why its process ended, are for operators; a result that is not JSON has its code", () => {
  const lost = lostError("outcome_unknown", "text", "its process ran out of memory (SIGABRT)", 1, ["FATAL ERROR"]);
  expect(lost.message).not.toContain("FATAL");
  expect(lost.cause).toMatchObject({ stack: "its process ran out of memory (SIGABRT)\nFATAL ERROR" });
  const error = { type: "NotJson", detail: "a bigint at $.total" };
  expect(hostSaidError("text", { kind: "response", id: "1", ok: false, error }).code).toBe("result_not_serializable");
});

test.each([
  [{ code: 1, signal: null }, [], "its process ended with code 1"],
  [
    { code: null, signal: "SIGABRT" },
    ["FATAL ERROR: JavaScript heap out of memory"],
    "its process ran out of memory (SIGABRT)",
  ],
  [{ code: null, signal: "SIGABRT" }, ["assertion failed"], "its process was ended by SIGABRT"],
  [
    { code: null, signal: "SIGKILL" },
    [],
    "its process was ended by SIGKILL (the system does this when memory runs out)",
  ],
  [{ code: null, signal: "SIGTERM" }, [], "its process was ended by SIGTERM"],
] as const)("[SEE-10] the end of a process in words: %j", (status, said, words) => {
  expect(describeExit(status, said)).toBe(words);
});

test("every message names the host and says what to do or what happened, in one sentence", () => {
  const errors = [
    lostError("outcome_unknown", "text", "its process ended with code 1", 1),
    lostError("upstream_unavailable", "text", "its process ended with code 1", 3),
    timeoutError("text", 30_000, true),
    timeoutError("text", 30_000, false),
    canceledError("text"),
    tooLongError("text", 16),
    queueFullError("text", 1_000),
    breakerError("text", 29_001, "its process ended with code 1"),
    breakerError("text", 1, undefined),
    closedError("text"),
  ];
  for (const { message } of errors) {
    expect(message).toContain("host text");
    expect(message.includes("\n")).toBe(false);
  }
  expect(errors.map(({ code }) => code)).toEqual([
    "outcome_unknown",
    "upstream_unavailable",
    "tool_timeout",
    "tool_timeout",
    "canceled",
    "result_too_large",
    "rate_limited",
    "breaker_open",
    "breaker_open",
    "upstream_unavailable",
  ]);
});
