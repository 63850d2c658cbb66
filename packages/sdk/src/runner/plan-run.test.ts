import { describe, expect, test } from "vitest";
import type { ToolProfile } from "./executor.ts";
import { checkPin, planDeadline, planShutdown } from "./plan-run.ts";

const profile = (pin: "strict" | "record", definitionHash?: string): ToolProfile => ({
  retry: "never",
  timeoutSeconds: 30,
  pin,
  definitionHash,
  control: "allow",
  secrets: [],
  envs: {},
});

test.each([
  ["the tool's own limit", { timeoutSeconds: 5, runDeadline: undefined }, 6_000],
  ["no limit known", { timeoutSeconds: undefined, runDeadline: undefined }, 31_000],
  ["the plane's word counts", { timeoutSeconds: 5, runDeadline: 4_000 }, 4_000],
  ["also when it is later", { timeoutSeconds: 5, runDeadline: 9_000 }, 9_000],
])("[ARCH-7-5] deadline: %s", (_name, input, deadline) => {
  expect(planDeadline({ receivedAt: 1_000, ...input })).toBe(deadline);
});

describe("checkPin", () => {
  test.each([
    ["the same", profile("strict", "a"), { definition_hash: "a" }],
    ["recorded only", profile("record", "a"), { definition_hash: "b" }],
  ])("[ARCH-7-6] %s: runs", (_name, code, metadata) => {
    expect(() => checkPin(code, metadata)).not.toThrow();
  });

  test.each([
    ["another", profile("strict", "a"), { definition_hash: "b" }],
    ["none on the card", profile("strict", "a"), {}],
    ["none in the code", profile("strict"), { definition_hash: "b" }],
  ])("[ARCH-7-6] %s: definition_changed", (_name, code, metadata) => {
    expect(() => checkPin(code, metadata)).toThrow(expect.objectContaining({ code: "definition_changed" }));
  });
});

test.each([
  [false, "never", "release"],
  [false, "safe", "release"],
  [true, "safe", "release"],
  [true, "never", "outcome_unknown"],
] as const)("[ARCH-7-2] a service that must stop: started %s, retry %s: %s", (started, retry, plan) => {
  expect(planShutdown(started, retry)).toBe(plan);
});
