import { expect, test } from "vitest";
import { planAfterExecution } from "./after-execution.ts";

test.each([
  ["count_words", "suspend", "suspend", { outcome: "agreed", afterExecution: "suspend" }],
  ["fork_join", "suspend", "suspend", { outcome: "agreed", afterExecution: "suspend" }],
  ["count_words", "terminate", "suspend", { outcome: "override", afterExecution: "terminate" }],
  ["fork_join", "suspend", "terminate", { outcome: "refused", reason: "after_execution_mismatch" }],
] as const)(
  "[UTP-D08] %s says %s, the command %s: the definition counts",
  (tool_name, after_execution, commanded, expected) => {
    expect(planAfterExecution({ tool_name, after_execution }, commanded)).toEqual(expected);
  },
);
