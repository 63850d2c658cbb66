// A tool as its readers see it: what is in force, and what waits for a person beside it.

import type { ToolDefinition } from "@toolplane/protocol";
import { applyGuards, type DefinitionChange, definitionChanges } from "@toolplane/protocol/registry";
import type { ToolStatus } from "./definition-cache.sql.ts";
import { parseStored } from "./plan-tools.ts";
import type { ToolRow, VersionRow } from "./tools.sql.ts";

/** A version that a program registered and a person has not accepted. */
export interface PendingVersion {
  readonly version: number;
  readonly definitionHash: string;
  /** The program that registered it. */
  readonly source: string | null;
  readonly createdAt: string;
  /** What it changes in the definition in force; of a deleted tool, in the one it had. */
  readonly changes: readonly DefinitionChange[];
  /** The options of a person that it would weaken; empty when it waits because a person deleted the tool. */
  readonly weakens: readonly string[];
}

export interface RegisteredTool {
  readonly projectId: string;
  readonly toolName: string;
  readonly version: number;
  readonly definitionHash: string;
  /** `pending`: the tool is new, and a person has not accepted its first version. */
  readonly status: ToolStatus | "pending";
  readonly source: string | null;
  readonly definition: ToolDefinition;
  readonly updatedAt: string;
  /** The version whose options a person decided; null when only programs ever registered the tool. */
  readonly guardedVersion: number | null;
  readonly pending: PendingVersion | undefined;
  /** The person who deleted it. */
  readonly deletedBy: string | null;
}

export interface ToolVersion {
  readonly version: number;
  readonly definitionHash: string;
  readonly definition: ToolDefinition;
  readonly createdAt: string;
  readonly state: VersionRow["state"];
}

const pendingOf = (row: ToolRow, inForce: ToolDefinition): PendingVersion | undefined => {
  if (row.pending_version === null || row.pending_definition === null) return undefined;
  const definition = parseStored(row.pending_definition);
  return {
    version: row.pending_version,
    definitionHash: row.pending_hash ?? "",
    source: row.pending_source,
    createdAt: row.pending_at?.toISOString() ?? "",
    changes: definitionChanges(inForce, definition),
    weakens: row.guard_definition === null ? [] : applyGuards(parseStored(row.guard_definition), definition).weakens,
  };
};

/** The row of a new tool that waits (WRITE_UNACCEPTED): nothing of it was ever in force. */
export const isUnaccepted = (row: Pick<ToolRow, "status" | "deleted_by" | "pending_version" | "version">): boolean =>
  row.status === "deleted" && row.deleted_by === null && row.pending_version === row.version;

export const toTool = (projectId: string, row: ToolRow): RegisteredTool => {
  const definition = parseStored(row.definition);
  return {
    projectId,
    toolName: row.tool_name,
    version: row.version,
    definitionHash: row.definition_hash,
    status: isUnaccepted(row) ? "pending" : row.status,
    source: row.source,
    definition,
    updatedAt: row.updated_at.toISOString(),
    guardedVersion: row.guarded_version,
    pending: pendingOf(row, definition),
    deletedBy: row.deleted_by,
  };
};

export const toToolVersion = (row: VersionRow): ToolVersion => ({
  version: row.version,
  definitionHash: row.definition_hash,
  definition: parseStored(row.definition),
  createdAt: row.created_at.toISOString(),
  state: row.state,
});
