// What a host's tool becomes by its registration. Its calls run under the definition in force in the registry, never under what
// the host says: a person may have set stricter options, or may not have accepted the new ones yet.

import type { DefinedHostTool } from "@toolplane/bridges";
import type { ToolUpsertResult } from "@toolplane/engine";
import { type ToolplaneError, understandError } from "@toolplane/protocol";
import type { RefusedHostTool } from "@toolplane/protocol/host";

export interface ServedHostTool {
  readonly tool: DefinedHostTool;
  /** For the log, when the host's version is not the one in force. */
  readonly waits: { readonly tool: string; readonly version: number; readonly todo: string } | undefined;
}

const acceptCommand = (toolName: string): string => `toolplane tools accept ${toolName}`;

export const planHostTool = (
  tool: DefinedHostTool,
  result: ToolUpsertResult | ToolplaneError | undefined,
): ServedHostTool | RefusedHostTool => {
  const { hostTool, definition } = tool;
  const toolName = definition.tool_name;
  if (result === undefined || result instanceof Error)
    return { name: hostTool, reason: understandError(result, { keepMessage: true }).message };
  const { inForce, outcome, version } = result;
  if (inForce === undefined)
    return {
      name: hostTool,
      reason: `a person deleted ${toolName}; to bring it back run: ${acceptCommand(toolName)}`,
    };
  if (outcome !== "pending") return { tool: { ...tool, ...inForce }, waits: undefined };
  // The host's code does not implement the definition in force, so a call pinned to that must see another hash.
  return {
    tool: { ...tool, definition: inForce.definition },
    waits: { tool: toolName, version, todo: acceptCommand(toolName) },
  };
};
