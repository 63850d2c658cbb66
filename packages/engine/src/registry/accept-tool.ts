// Accepting a version that waits: it is in force from now on, and its options are the person's word. A tool that a person
// had deleted comes back by it; a paused one stays paused.

import { type ToolDefinition, ToolplaneError } from "@toolplane/protocol";
import { isExternalTool } from "@toolplane/protocol/registry";
import type { Queryer } from "../sql/database.ts";
import { targetIn } from "./plan-tools.ts";
import { bindToolWrites, type ToolRow, WRITE_TOOLS } from "./tools.sql.ts";

const refuse = (message: string): ToolplaneError => new ToolplaneError("conflict", message);

/** Throws `conflict` when nothing waits, or another version than the one that was looked at. */
export const acceptPending = async (
  tx: Queryer,
  projectId: string,
  row: ToolRow,
  version: number | undefined,
): Promise<number> => {
  const { tool_name: toolName, pending_version: waiting, pending_definition: text, pending_hash: hash } = row;
  if (waiting === null || text === null || hash === null)
    throw refuse(`no version of ${toolName} waits to be accepted; version ${row.version} is in force`);
  if (version !== undefined && version !== waiting)
    throw refuse(`version ${version} of ${toolName} does not wait to be accepted; version ${waiting} does`);
  const definition = JSON.parse(text) as ToolDefinition;
  const write = {
    toolName,
    version: waiting,
    definitionHash: hash,
    source: row.pending_source,
    target: targetIn(definition, projectId),
    internal: !isExternalTool(definition),
    plain: definition.options.service === "plain",
    guardedVersion: waiting,
  };
  await tx.query(WRITE_TOOLS, bindToolWrites([write], projectId));
  return waiting;
};
