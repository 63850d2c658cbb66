// What an import does to the registry, decided from what is there. Pure.
//   PI1. A tool that is registered with the same hash is left alone: a start with an unchanged document writes nothing.
//   PI2. A tool whose operation is gone from the document, or can no longer be imported, stays as it is and is named at every
//        start: only a person deletes it.
//   PI3. A tool that the configuration's patterns now leave out is deleted: the operator has said so.

import type { ImportOutcome } from "@toolplane/bridges/openapi";
import type { RegisteredTool } from "@toolplane/engine";
import type { ToolDefinition } from "@toolplane/protocol";

export type KnownTool = Pick<RegisteredTool, "toolName" | "definitionHash" | "status"> & {
  readonly pending: Pick<NonNullable<RegisteredTool["pending"]>, "definitionHash"> | undefined;
};

export interface ImportPlan {
  readonly uploads: readonly ToolDefinition[];
  readonly unchanged: number;
  /** Tools that wait and did not change since. */
  readonly waiting: readonly string[];
  readonly deletes: readonly string[];
  readonly gone: readonly string[];
}

export const planImport = ({ tools, leftOut }: ImportOutcome, known: readonly KnownTool[]): ImportPlan => {
  const byName = new Map(known.map((tool) => [tool.toolName, tool]));
  const isSame = ({ definition, definitionHash }: ImportOutcome["tools"][number]): boolean => {
    const before = byName.get(definition.tool_name);
    return before !== undefined && before.status !== "deleted" && before.definitionHash === definitionHash;
  };
  const imported = new Set(tools.map(({ definition }) => definition.tool_name));
  const left = new Set(leftOut);
  const inForce = known.filter(({ status }) => status !== "deleted");
  const same = tools.filter(isSame);
  return {
    uploads: tools.filter((tool) => !isSame(tool)).map(({ definition }) => definition),
    unchanged: same.length,
    waiting: same
      .filter(({ definition }) => byName.get(definition.tool_name)?.status === "pending")
      .map(({ definition }) => definition.tool_name),
    deletes: inForce.filter(({ toolName }) => left.has(toolName)).map(({ toolName }) => toolName),
    gone: inForce
      .filter(({ toolName }) => !imported.has(toolName) && !left.has(toolName))
      .map(({ toolName }) => toolName),
  };
};

export interface ReasonGroup {
  readonly reason: string;
  readonly count: number;
  readonly operations: string;
}

const MOST_NAMED = 50;

const list = (names: readonly string[]): string =>
  names.length <= MOST_NAMED
    ? names.join(", ")
    : `${names.slice(0, MOST_NAMED).join(", ")} and ${names.length - MOST_NAMED} more`;

export const namesOf = (names: readonly string[]): string => list([...names].sort());

/** One line of the log for each reason, not for each of a thousand operations. */
export const groupReasons = (
  refused: readonly { readonly operation: string; readonly reason: string }[],
): readonly ReasonGroup[] => {
  const groups = new Map<string, string[]>();
  for (const { operation, reason } of refused) {
    const group = groups.get(reason);
    if (group === undefined) groups.set(reason, [operation]);
    else group.push(operation);
  }
  return [...groups].map(([reason, operations]) => ({
    reason,
    count: operations.length,
    operations: list(operations),
  }));
};
