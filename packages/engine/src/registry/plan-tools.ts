// What registering definitions does, decided from what is stored. Pure: the caller holds the project's lock, so what was
// read is what will be replaced.
//   TU1. The same hash changes nothing; another hash is a new version; calls keep the version they were made under.
//   TU2. A name belongs to the program that registered it first; another one gets `conflict` naming both.
//   TU3. A deleted name is free, but its versions go on counting: a number never means two definitions.

import { definitionText, parseToolTarget, type ToolDefinition, ToolplaneError } from "@toolplane/protocol";
import { isExternalTool, planToolUpsert, type StoredTool } from "@toolplane/protocol/registry";
import type { ToolRow, ToolWrite } from "./tools.sql.ts";

export interface ToolUpsertResult {
  readonly toolName: string;
  readonly outcome: "created" | "replaced" | "unchanged";
  readonly version: number;
  readonly definitionHash: string;
  /** The fields that differ from the version before. */
  readonly changed: readonly string[];
}

export interface IncomingTool {
  readonly projectId: string;
  readonly definition: ToolDefinition;
  readonly hash: string;
  readonly source: string | undefined;
}

export interface ToolsPlan {
  readonly results: readonly (ToolUpsertResult | ToolplaneError)[];
  readonly writes: readonly ToolWrite[];
}

interface Known extends StoredTool {
  readonly deleted: boolean;
}

const readKnown = (row: ToolRow): Known => ({
  definition: JSON.parse(row.definition) as ToolDefinition,
  hash: row.definition_hash,
  source: row.source ?? undefined,
  version: row.version,
  deleted: row.status === "deleted",
});

const planRevival = (known: Known, incoming: IncomingTool): ToolUpsertResult => ({
  toolName: incoming.definition.tool_name,
  outcome: "created",
  version: known.hash === incoming.hash ? known.version : known.version + 1,
  definitionHash: incoming.hash,
  changed: [],
});

const planOne = (known: Known | undefined, incoming: IncomingTool): ToolUpsertResult | ToolplaneError => {
  if (known?.deleted === true) return planRevival(known, incoming);
  const toolName = incoming.definition.tool_name;
  const plan = planToolUpsert(known, incoming);
  if (plan.outcome === "conflict")
    return new ToolplaneError("conflict", plan.message, {
      detail: { tool_name: toolName, owner: known?.source ?? null, source: incoming.source ?? null },
    });
  const changed = plan.outcome === "replaced" ? plan.changed : [];
  return { toolName, outcome: plan.outcome, version: plan.version, definitionHash: incoming.hash, changed };
};

const toWrite = ({ definition, hash, projectId, source }: IncomingTool, version: number): ToolWrite => {
  const internal = !isExternalTool(definition);
  return {
    toolName: definition.tool_name,
    version,
    definitionHash: hash,
    source: source ?? null,
    target: internal ? "" : (parseToolTarget(definition.target_subject, projectId).target ?? ""),
    internal,
    plain: definition.options.service === "plain",
    definition: definitionText(definition),
  };
};

/** Items of one name are taken one after the other, as if they had come in separate requests. */
export const planTools = (rows: readonly ToolRow[], incoming: readonly IncomingTool[]): ToolsPlan => {
  const known = new Map(rows.map((row) => [row.tool_name, readKnown(row)]));
  const planned = new Set<string>();
  const writes = new Map<string, ToolWrite>();
  const results = incoming.map((item) => {
    const name = item.definition.tool_name;
    const before = known.get(name);
    if (planned.has(name) && before?.hash !== item.hash)
      return new ToolplaneError("conflict", `${name} is defined twice in one request`, { detail: { tool_name: name } });
    const result = planOne(before, item);
    if (result instanceof ToolplaneError) return result;
    planned.add(name);
    if (result.outcome === "unchanged") return result;
    const write = toWrite(item, result.version);
    writes.set(name, write);
    known.set(name, { ...item, version: result.version, deleted: false });
    return result;
  });
  return { results, writes: [...writes.values()] };
};
