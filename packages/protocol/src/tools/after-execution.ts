// The definition says what the end of a call does to the turn; a command only repeats it (D-08).
// A command with another value cannot change the card or the callback, which always repeat the command's (I11): for one of our
// own tools it is refused; for any other tool the definition's value is written as the override in the result.

import type { AfterExecution } from "../results/value-sets.ts";
import type { ToolDefinition } from "./definition.ts";
import { isPmoToolName } from "./tool-name.ts";

export type AfterExecutionPlan =
  | { readonly outcome: "agreed"; readonly afterExecution: AfterExecution }
  | { readonly outcome: "override"; readonly afterExecution: AfterExecution }
  | { readonly outcome: "refused"; readonly reason: "after_execution_mismatch" };

export const planAfterExecution = (
  definition: Pick<ToolDefinition, "tool_name" | "after_execution">,
  commanded: AfterExecution,
): AfterExecutionPlan => {
  const afterExecution = definition.after_execution;
  if (commanded === afterExecution) return { outcome: "agreed", afterExecution };
  if (isPmoToolName(definition.tool_name)) return { outcome: "refused", reason: "after_execution_mismatch" };
  return { outcome: "override", afterExecution };
};
