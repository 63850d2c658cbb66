// Decides what a registration of definitions changes, from what is stored. Pure: the caller holds the project's lock, so the rows
// that were read are the rows that will be replaced.
//   TU1. The same hash changes nothing; another hash is a new version; calls keep the version they were made under.
//   TU2. A name belongs to the program that registered it first; another program gets `conflict`, which names both.
//   TU3. A deleted name is free, but its versions go on counting: a number never means two definitions.
//   TU4. A definition that a person applies is in force at once and becomes the guard. A program's definition is merged under that guard
//        (applyGuards); a version that would weaken it waits, and so does a version of a tool that a person deleted.
//   TU5. A definition from another machine (`waits`) always waits: a new tool, and every change of a tool.
//   TU6. A tool service that sends a version the tool has had before changes nothing: the newest accepted one stays. Otherwise two
//        services with different versions would replace each other's definition at every reconnect. A person goes back to an
//        older version by accepting it.

import {
  definitionHash,
  definitionText,
  type HashText,
  parseToolTarget,
  type ToolDefinition,
  ToolplaneError,
} from "@toolplane/protocol";
import {
  applyGuards,
  type GuardedDefinition,
  isExternalTool,
  planToolUpsert,
  type StoredTool,
} from "@toolplane/protocol/registry";
import { limitsOf } from "./tool-limits.ts";
import type { PendingWrite, ToolRow, ToolWrite, VersionWrite } from "./tools.sql.ts";

export interface ToolUpsertResult {
  readonly toolName: string;
  /**
   * `pending`: the version waits until a person accepts it; calls go on under the accepted one, if there is one. `older`: the tool
   * has had this version before, and a newer one is in force.
   */
  readonly outcome: "created" | "replaced" | "unchanged" | "pending" | "older";
  readonly version: number;
  readonly definitionHash: string;
  /** The fields that differ from the version before. */
  readonly changed: readonly string[];
  /** What calls run under from now on; undefined when a person deleted the tool and the version waits. */
  readonly inForce: InForce | undefined;
}

export interface InForce {
  readonly definition: ToolDefinition;
  readonly definitionHash: string;
}

export interface IncomingTool {
  readonly projectId: string;
  readonly definition: ToolDefinition;
  readonly hash: string;
  /** The code it belongs to, once that is decided; its own hash until then. */
  readonly codeHash?: string | undefined;
  readonly source: string | undefined;
  /** A person's change, which needs no acceptance. */
  readonly asPerson: boolean;
  /** Nothing of it is in force until a person accepts it. */
  readonly waits: boolean;
  /** Why it could never work. The definition that is in force already may be sent again: it stays as it is. */
  readonly refusal?: ToolplaneError | undefined;
}

/** Of each upload: the parameters a person fixed whose values its schema refuses, as options are named. */
export type Misfits = ReadonlyMap<IncomingTool, readonly string[]>;

/** A version that a tool has or had, of the code that is sent. */
export interface PastVersion {
  readonly tool_name: string;
  readonly version: number;
  readonly definition_hash: string;
}

export interface ToolsPlan {
  readonly results: readonly (ToolUpsertResult | ToolplaneError)[];
  readonly writes: readonly ToolWrite[];
  /** Tools that are new and wait. */
  readonly unaccepted: readonly ToolWrite[];
  readonly pending: readonly PendingWrite[];
  readonly versions: readonly VersionWrite[];
}

interface Known extends StoredTool {
  readonly deleted: boolean;
  readonly deletedByPerson: boolean;
  readonly codeHash: string;
  /** The highest number any version has. */
  readonly lastVersion: number;
  readonly guard: { readonly version: number; readonly definition: ToolDefinition } | undefined;
  readonly pending: { readonly version: number; readonly hash: string } | undefined;
}

interface Planned {
  readonly result: ToolUpsertResult;
  readonly write?: ToolWrite | undefined;
  readonly unaccepted?: ToolWrite | undefined;
  readonly pending?: PendingWrite | undefined;
  readonly version?: VersionWrite | undefined;
}

/** A definition as it is stored. */
export const parseStored = (text: string): ToolDefinition => JSON.parse(text) as ToolDefinition;

const readKnown = (row: ToolRow): Known => ({
  definition: parseStored(row.definition),
  hash: row.definition_hash,
  source: row.source ?? undefined,
  version: row.version,
  deleted: row.status === "deleted",
  deletedByPerson: row.deleted_by !== null,
  codeHash: row.code_hash,
  lastVersion: row.last_version,
  guard:
    row.guarded_version === null || row.guard_definition === null
      ? undefined
      : { version: row.guarded_version, definition: parseStored(row.guard_definition) },
  pending:
    row.pending_version === null || row.pending_hash === null
      ? undefined
      : { version: row.pending_version, hash: row.pending_hash },
});

const toVersion = (
  { definition, hash, codeHash = hash }: IncomingTool,
  version: number,
  accepted: boolean,
): VersionWrite => ({
  toolName: definition.tool_name,
  version,
  definitionHash: hash,
  definition: definitionText(definition),
  codeHash,
  accepted,
});

export const targetIn = (definition: ToolDefinition, projectId: string): string =>
  isExternalTool(definition) ? (parseToolTarget(definition.target_subject, projectId).target ?? "") : "";

const toWrite = (item: IncomingTool, version: number, guardedVersion: number | null): ToolWrite => ({
  toolName: item.definition.tool_name,
  version,
  definitionHash: item.hash,
  source: item.source ?? null,
  target: targetIn(item.definition, item.projectId),
  internal: !isExternalTool(item.definition),
  plain: item.definition.options.service === "plain",
  limits: limitsOf(item.definition.options),
  guardedVersion,
});

/** The version waits for a person; the same version again does not wait a second time. */
const planPending = (known: Known, item: IncomingTool): Planned => {
  const toolName = item.definition.tool_name;
  const again = known.pending?.hash === item.hash ? known.pending.version : undefined;
  const version = again ?? (known.hash === item.hash ? known.version : known.lastVersion + 1);
  const result: ToolUpsertResult = {
    toolName,
    outcome: "pending",
    version,
    definitionHash: item.hash,
    changed: [],
    inForce: known.deleted ? undefined : { definition: known.definition, definitionHash: known.hash },
  };
  if (again !== undefined) return { result };
  return {
    result,
    pending: { toolName, version, source: item.source ?? null },
    version: toVersion(item, version, false),
  };
};

/** A new tool of which nothing is in force yet: its name is taken, and its first version waits. */
const planUnaccepted = (item: IncomingTool): Planned => {
  const toolName = item.definition.tool_name;
  const version = 1;
  return {
    result: { toolName, outcome: "pending", version, definitionHash: item.hash, changed: [], inForce: undefined },
    unaccepted: toWrite(item, version, null),
    version: toVersion(item, version, false),
  };
};

/** The registered version is in force from now on. */
const planCurrent = (known: Known | undefined, item: IncomingTool): Planned | ToolplaneError => {
  const toolName = item.definition.tool_name;
  const last = known?.lastVersion ?? 0;
  const inForce = { definition: item.definition, definitionHash: item.hash };
  const guardAt = (version: number): number | null => (item.asPerson ? version : (known?.guard?.version ?? null));
  if (known === undefined || known.deleted) {
    const version = known?.hash === item.hash ? known.version : last + 1;
    const result = { toolName, outcome: "created" as const, version, definitionHash: item.hash, changed: [], inForce };
    return { result, write: toWrite(item, version, guardAt(version)), version: toVersion(item, version, true) };
  }
  const plan = planToolUpsert(known, item);
  if (plan.outcome === "conflict")
    return new ToolplaneError("conflict", plan.message, {
      detail: { tool_name: toolName, owner: known.source ?? null, source: item.source ?? null },
    });
  if (plan.outcome === "unchanged") {
    const result = {
      toolName,
      outcome: plan.outcome,
      version: plan.version,
      definitionHash: item.hash,
      changed: [],
      inForce,
    };
    const isDecided = item.asPerson && (known.guard?.version !== plan.version || known.pending !== undefined);
    // The program stays the owner: a person who applies the same definition does not take the name over.
    const write = isDecided
      ? toWrite({ ...item, source: known.source }, plan.version, guardAt(plan.version))
      : undefined;
    return { result, write };
  }
  const version = last + 1;
  const changed = plan.outcome === "replaced" ? plan.changed : [];
  const result = { toolName, outcome: plan.outcome, version, definitionHash: item.hash, changed, inForce };
  return { result, write: toWrite(item, version, guardAt(version)), version: toVersion(item, version, true) };
};

/** What a tool service registers begins with this. */
const SERVICE_SOURCE = "service:";

/** Tools of services whose code is not the one in force: only for them it matters which versions there were. */
export const planPastLookup = (
  rows: readonly ToolRow[],
  incoming: readonly IncomingTool[],
): readonly { readonly toolName: string; readonly codeHash: string }[] => {
  const inForce = new Map(rows.map((row) => [row.tool_name, row]));
  return incoming
    .filter(({ definition, hash, source, asPerson }) => {
      const row = inForce.get(definition.tool_name);
      const isService = !asPerson && source?.startsWith(SERVICE_SOURCE) === true;
      return isService && row !== undefined && row.status !== "deleted" && row.code_hash !== hash;
    })
    .map(({ definition, hash }) => ({ toolName: definition.tool_name, codeHash: hash }));
};

const planOlder = (known: Known, { tool_name, version, definition_hash }: PastVersion): Planned => ({
  result: {
    toolName: tool_name,
    outcome: "older",
    version,
    definitionHash: definition_hash,
    changed: [],
    inForce: { definition: known.definition, definitionHash: known.hash },
  },
});

/** Everything but the options, which a person may change without changing what the code must do. */
const withoutOptions = (definition: ToolDefinition): string => definitionText({ ...definition, options: {} });

/** A person who changes only options leaves the code as it is. */
const codeOfPerson = (known: Known | undefined, { definition, hash }: IncomingTool): string =>
  known !== undefined && withoutOptions(known.definition) === withoutOptions(definition) ? known.codeHash : hash;

const planOne = (
  known: Known | undefined,
  item: IncomingTool,
  sha256: HashText,
  misfits: readonly string[],
  past: readonly PastVersion[],
): Planned | ToolplaneError => {
  if (known === undefined && item.waits) return planUnaccepted(item);
  if (item.asPerson) return planCurrent(known, { ...item, codeHash: codeOfPerson(known, item) });
  if (known === undefined) return planCurrent(known, item);
  // The program says what it said before: what a person has changed since stays.
  if (!known.deleted && known.guard !== undefined && known.codeHash === item.hash)
    return planCurrent(known, { ...item, definition: known.definition, hash: known.hash, codeHash: known.codeHash });
  const merged: GuardedDefinition =
    known.guard === undefined
      ? { definition: item.definition, weakens: [] }
      : applyGuards(known.guard.definition, item.definition);
  const { definition } = merged;
  const weakens = [...merged.weakens, ...misfits];
  const guarded = { ...item, definition, hash: definitionHash(definition, sha256), codeHash: item.hash };
  if (known.deleted) {
    const waits = known.deletedByPerson || weakens.length > 0 || item.waits;
    return waits ? planPending(known, guarded) : planCurrent(known, guarded);
  }
  const clash = planToolUpsert(known, guarded);
  const isHeld = weakens.length > 0 || item.waits;
  const older = past.find(({ version }) => version !== known.version && version !== known.pending?.version);
  if (clash.outcome === "replaced" && older !== undefined && !isHeld) return planOlder(known, older);
  return clash.outcome !== "conflict" && isHeld && known.hash !== guarded.hash
    ? planPending(known, guarded)
    : planCurrent(known, guarded);
};

const isInForce = (known: Known | undefined, { hash }: IncomingTool): boolean =>
  known !== undefined && !known.deleted && (known.hash === hash || known.codeHash === hash);

/** What sending the same once more gives again. */
const STAYS: ReadonlySet<ToolUpsertResult["outcome"]> = new Set(["pending", "older"]);

/** Items of one name are taken one after the other, as if they had come in separate requests. */
export const planTools = (
  rows: readonly ToolRow[],
  incoming: readonly IncomingTool[],
  sha256: HashText,
  misfits: Misfits = new Map(),
  past: readonly PastVersion[] = [],
): ToolsPlan => {
  const known = new Map(rows.map((row) => [row.tool_name, readKnown(row)]));
  const seen = new Map<string, string>();
  const planned: Planned[] = [];
  const results = incoming.map((item) => {
    const name = item.definition.tool_name;
    const before = seen.get(name);
    if (before !== undefined) {
      const first = planned.find(({ result }) => result.toolName === name)?.result;
      return before === item.hash && first !== undefined
        ? { ...first, outcome: STAYS.has(first.outcome) ? first.outcome : ("unchanged" as const), changed: [] }
        : new ToolplaneError("conflict", `${name} is defined twice in one request`, { detail: { tool_name: name } });
    }
    if (item.refusal !== undefined && !isInForce(known.get(name), item)) return item.refusal;
    const itsPast = past.filter((version) => version.tool_name === name);
    const plan = planOne(known.get(name), item, sha256, misfits.get(item) ?? [], itsPast);
    if (plan instanceof ToolplaneError) return plan;
    seen.set(name, item.hash);
    planned.push(plan);
    return plan.result;
  });
  const those = <Key extends "write" | "unaccepted" | "pending" | "version">(key: Key): NonNullable<Planned[Key]>[] =>
    planned.map((plan) => plan[key]).filter((value): value is NonNullable<Planned[Key]> => value !== undefined);
  return {
    results,
    writes: those("write"),
    unaccepted: those("unaccepted"),
    pending: those("pending"),
    versions: those("version"),
  };
};
