// Which arguments of the project manager's tools the manager judges itself.

import { expect, test } from "vitest";
import { isJudgedByManager, malformedProvision } from "./pmo-arguments.ts";

const ENSURE = { action: "ensure", agent_id: "a" };

test.each([
  [{}, "invalid_action"],
  [{ ...ENSURE, action: "destroy" }, "invalid_action"],
  [{ action: "ensure" }, "missing_agent_id"],
  [{ ...ENSURE, agent_id: 7 }, "missing_agent_id"],
  [{ ...ENSURE, action: "derive" }, "missing_derived_from"],
  [{ ...ENSURE, tags: "web" }, "invalid_tags"],
  [{ ...ENSURE, tags: [1] }, "invalid_tags"],
  [{ ...ENSURE, metadata: [] }, "invalid_metadata"],
  [{ ...ENSURE, tags: null, metadata: null }, undefined],
  [{ ...ENSURE, surprise: 1 }, undefined],
] as const)("[UTP-11.5-1] provision_agent %j: %s", (args, code) => {
  expect(malformedProvision(args)).toBe(code);
  expect(isJudgedByManager("provision_agent", args)).toBe(code !== undefined);
});

test("[UTP-11.6-1] [ENG-schema] only a flag of fork_join that is not a boolean is left to the manager; other tools are not", () => {
  expect(isJudgedByManager("fork_join", { tasks: [], fail_fast: "yes" })).toBe(true);
  expect(isJudgedByManager("fork_join", { tasks: [], fail_fast: true })).toBe(false);
  expect(isJudgedByManager("fork_join", { tasks: [] })).toBe(false);
  for (const name of ["delegate_async", "mine", "constructor", "toString"])
    expect(isJudgedByManager(name, { fail_fast: "yes" })).toBe(false);
});
