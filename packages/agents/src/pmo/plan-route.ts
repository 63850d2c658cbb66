// Whether the project manager takes this command. The definition must say so, the subject names the function, and both must agree
// with what the command says about itself.

import { planAfterExecution, type ToolDefinition, ToolplaneError, tryParseSubject } from "@toolplane/protocol";
import { PMO_TOOL_NAMES, type PmoToolName } from "@toolplane/protocol/registry";
import { type ToolCall, ToolError } from "@toolplane/sdk";

const PREFIX = "internal.";

const functionOf = (subject: string | undefined): string | undefined => {
  const suffix = subject === undefined ? undefined : tryParseSubject(subject)?.suffix;
  if (suffix?.startsWith(PREFIX) !== true) return undefined;
  const name = suffix.slice(PREFIX.length);
  return name === "" || name.includes(".") ? undefined : name;
};

export type RoutedCall = Pick<ToolCall, "toolName" | "subject" | "afterExecution">;

/** The tool to run; throws the refusal. */
export const planRoute = (
  { toolName, subject, afterExecution }: RoutedCall,
  definition: Pick<ToolDefinition, "tool_name" | "after_execution"> | undefined,
): PmoToolName => {
  if (definition === undefined)
    throw new ToolError("tool_definition_missing", `the project has no definition of ${toolName}`);
  if (planAfterExecution(definition, afterExecution).outcome !== "agreed")
    throw new ToolError(
      "after_execution_mismatch",
      `the command says ${afterExecution}, the definition of ${toolName} says ${definition.after_execution}`,
    );
  const name = functionOf(subject);
  if (name === undefined)
    throw new ToolError("unsupported_pmo_route", "the project manager takes commands on internal.<function> only");
  const known = PMO_TOOL_NAMES.find((tool) => tool === name);
  if (known === undefined) throw new ToolError("not_implemented", `the project manager has no function ${name}`);
  if (known !== toolName)
    throw new ToolplaneError("bad_request", `a command for ${toolName} came on the subject of ${known}`);
  return known;
};
