import { describe, expect, test } from "vitest";
import { type DelegationInput, planBoxInheritance, planDelegation } from "./delegation.ts";
import type { DelegationPolicy } from "./profile.ts";

const caller = { agent_id: "boss", status: "active" } as const;
const target = { name: "Researcher", tags: ["web", "slow"] };

const decide = (policy: Partial<DelegationPolicy> | undefined, change: Partial<DelegationInput> = {}) => {
  const decision = planDelegation({
    caller,
    callerProfile: {
      delegation_policy: policy && { target_tags: [], target_profiles: null, ...policy },
    },
    target,
    ...change,
  });
  return decision.allowed ? "allowed" : decision.code;
};

describe("planDelegation", () => {
  test.each([
    ["[UTP-5.7-10] no policy denies", undefined, "auth_failed"],
    ["[UTP-5.7-11] null profiles are all of them", { target_profiles: null }, "allowed"],
    ["[UTP-5.7-11] a list asks for membership", { target_profiles: ["Researcher"] }, "allowed"],
    ["[UTP-5.7-11] who is not in the list is denied", { target_profiles: ["Writer"] }, "auth_failed"],
    ["[UTP-5.7-11] an empty list allows nobody", { target_profiles: [] }, "auth_failed"],
    ["[UTP-W30-1] membership is of the name in any case", { target_profiles: ["researcher "] }, "allowed"],
    ["[UTP-5.7-12] tags ask for one in common", { target_tags: ["fast", "web"] }, "allowed"],
    ["[UTP-5.7-12] without one in common it is denied", { target_tags: ["fast"] }, "auth_failed"],
    [
      "[UTP-5.7-12] tags are asked for in addition to membership",
      { target_profiles: ["Writer"], target_tags: ["web"] },
      "auth_failed",
    ],
    [
      "[UTP-5.7-12] membership does not replace the tags",
      { target_profiles: ["Researcher"], target_tags: ["fast"] },
      "auth_failed",
    ],
  ])("%s", (_title, policy, expected) => {
    expect(decide(policy)).toBe(expected);
  });

  test.each<[string, Partial<DelegationInput>, string]>([
    ["a caller outside the roster", { caller: undefined }, "not_found"],
    ["a caller that was deactivated", { caller: { ...caller, status: "inactive" } }, "auth_failed"],
    ["a caller without a profile", { callerProfile: undefined }, "bad_request"],
    ["a target that could not be resolved", { target: undefined }, "not_found"],
  ])("[UTP-W18-1] %s never skips the guard", (_name, change, expected) => {
    expect(decide({ target_profiles: null }, change)).toBe(expected);
  });
});

describe("planBoxInheritance", () => {
  const decide = (requested: readonly string[], inheritable: readonly string[], existing: readonly string[]) => {
    const decision = planBoxInheritance({ requested, inheritable, existing });
    return decision.allowed ? "allowed" : decision.code;
  };

  test.each([
    ["nothing asked for", [], [], [], "allowed"],
    ["own boxes", ["a", "b"], ["a", "b", "c"], ["a", "b"], "allowed"],
    ["somebody else's box", ["a", "x"], ["a"], ["a", "x"], "bad_request"],
    ["a box, by a caller that has none", ["x"], [], ["x"], "bad_request"],
    ["an own box that is gone", ["a"], ["a"], [], "not_found"],
  ])("[UTP-W18-2] %s", (_name, requested, inheritable, existing, expected) => {
    expect(decide(requested, inheritable, existing)).toBe(expected);
  });
});

test("[UTP-5.7-10] somebody who is not an agent is told to call in the name of one", () => {
  const decision = planDelegation({ caller: undefined, callerProfile: undefined, target });
  expect(decision).toMatchObject({ allowed: false, code: "not_found", message: expect.stringContaining("agent_id") });
});
