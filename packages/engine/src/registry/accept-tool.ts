// Accepts a waiting version, or one that the tool had before: it is in force from now on, and its options count as the person's. A
// tool that a person had deleted comes back by it; a paused tool stays paused.

import { type ToolDefinition, ToolplaneError } from "@toolplane/protocol";
import { isExternalTool } from "@toolplane/protocol/registry";
import type { Queryer } from "../sql/database.ts";
import type { LateCalls } from "./late-calls.ts";
import { targetIn } from "./plan-tools.ts";
import { limitsOf } from "./tool-limits.ts";
import { ACCEPT_VERSION, READ_VERSION, type ToolRow } from "./tools.sql.ts";
import { writeTools } from "./write-tools.ts";

const refuse = (message: string, detail: Readonly<Record<string, unknown>> = {}): ToolplaneError =>
  new ToolplaneError("conflict", message, { detail });

/** Enough to recognise a version; a service may have registered any number. */
const MOST_NAMED = 10;

type AcceptedRow = Pick<
  ToolRow,
  "tool_name" | "version" | "status" | "guarded_version" | "pending_version" | "last_version"
>;

/**
 * The version that is accepted. Throws `conflict` when nothing waits, when another version waits than the person looked at, or
 * when no version is named and more than one came since a person last decided: a person who read one must not accept another.
 */
const planAcceptance = (row: AcceptedRow, version: number | undefined): number => {
  const { tool_name: toolName, pending_version: waiting } = row;
  if (waiting === null)
    throw refuse(`no version of ${toolName} waits to be accepted; version ${row.version} is in force`);
  if (version === waiting) return waiting;
  if (version !== undefined)
    throw refuse(`version ${version} of ${toolName} does not wait to be accepted; version ${waiting} does`);
  const decided = row.status === "deleted" ? row.version : (row.guarded_version ?? row.version);
  const others = [];
  for (let came = row.last_version; came > decided && others.length < MOST_NAMED; came -= 1)
    if (came !== waiting && came !== row.version) others.push(came);
  if (others.length === 0) return waiting;
  throw refuse(
    `versions ${[waiting, ...others].join(", ")} of ${toolName} came since a person last decided, and only version ${waiting} waits; look at it and name it to accept it`,
    {
      waiting,
      came: [waiting, ...others],
      todo: `toolplane tools show ${toolName}; toolplane tools accept ${toolName} --version ${waiting}`,
    },
  );
};

/** The row as if the named version waited, when it is one that the tool had before: going back is accepting it. */
export const withNamedVersion = async (
  tx: Queryer,
  projectId: string,
  row: ToolRow,
  version: number | undefined,
): Promise<ToolRow> => {
  const isPast = version !== undefined && version !== row.pending_version && version !== row.version;
  if (!isPast || !Number.isInteger(version) || version < 1 || version > row.last_version) return row;
  const [found] = await tx.query<Pick<ToolRow, "definition_hash" | "definition"> & { created_at: Date }>(READ_VERSION, [
    projectId,
    row.tool_name,
    version,
  ]);
  if (found === undefined) return row;
  return {
    ...row,
    pending_version: version,
    pending_source: row.source,
    pending_hash: found.definition_hash,
    pending_definition: found.definition,
    pending_at: found.created_at,
  };
};

/** Throws what `planAcceptance` throws. */
export const acceptPending = async (
  tx: Queryer,
  projectId: string,
  row: ToolRow,
  version: number | undefined,
  late: Pick<LateCalls, "gateTools">,
): Promise<number> => {
  const waiting = planAcceptance(row, version);
  const { tool_name: toolName, pending_definition: text, pending_hash: hash } = row;
  if (text === null || hash === null) throw refuse(`version ${waiting} of ${toolName} is not there any more`);
  const definition = JSON.parse(text) as ToolDefinition;
  const write = {
    toolName,
    version: waiting,
    definitionHash: hash,
    source: row.pending_source,
    target: targetIn(definition, projectId),
    internal: !isExternalTool(definition),
    plain: definition.options.service === "plain",
    limits: limitsOf(definition.options),
    guardedVersion: waiting,
  };
  await writeTools(tx, [write], projectId, late);
  await tx.query(ACCEPT_VERSION, [projectId, toolName, waiting]);
  return waiting;
};
