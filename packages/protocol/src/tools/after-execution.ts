// The definition says what the end of a call does to the turn; a command only repeats it (D-08).
// A command that says something else cannot change the card or the callback, which always echo the command (I11): for a
// tool of ours it is refused, for anybody else's the definition's word travels as the override in the result.

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
