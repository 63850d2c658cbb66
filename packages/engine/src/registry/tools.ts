// Tools of a project: registered, versioned, accepted, paused, deleted. Definitions for running calls are read elsewhere
// (definition-cache.ts); this is the side that changes them, and every change rings `registry`.

import { setImmediate as breathe } from "node:timers/promises";
import {
  definitionHash,
  isToolplaneError,
  PROTOCOL_VERSION,
  showName,
  type ToolDefinition,
  ToolplaneError,
} from "@toolplane/protocol";
import { type AllowEnv, isToolName, parseToolDefinition } from "@toolplane/protocol/registry";
import { type Act, type Actor, recordActs } from "../audit/audit.ts";
import { readInPieces } from "../coalescer/in-pieces.ts";
import { type Clock, systemClock } from "../ports/clock.ts";
import type { Ground } from "../ports/ground.ts";
import type { Queryer } from "../sql/database.ts";
import { acceptPending, withNamedVersion } from "./accept-tool.ts";
import { admitParameters, compiledLater } from "./admit-parameters.ts";
import { checkTogether } from "./check-together.ts";
import type { ToolStatus } from "./definition-cache.sql.ts";
import { findMisfits } from "./fixed-misfits.ts";
import { checkGivenValues } from "./given-values.ts";
import { createLateCalls } from "./late-calls.ts";
import { type Page, type PageRequest, parsePage, toPage } from "./page.ts";
import { type IncomingTool, type PastVersion, planPastLookup, planTools, type ToolUpsertResult } from "./plan-tools.ts";
import type { SchemaChecks } from "./schema-checks.ts";
import { type ToolLimits, withLimits } from "./tool-limits.ts";
import { createToolOutlines, type ToolOutlines } from "./tool-outlines.ts";
import { type PendingVersion, type RegisteredTool, type ToolVersion, toTool, toToolVersion } from "./tool-view.ts";
import {
  bindCodes,
  bindPendingWrites,
  bindToolWrites,
  bindVersionWrites,
  DROP_UNACCEPTED,
  FIND_VERSIONS_OF_CODE,
  FREE_PAUSED,
  HOLD_PAUSED,
  LIST_TOOLS,
  LIST_VERSIONS,
  READ_TOOLS,
  SET_TOOL_STATUS,
  type ToolRow,
  type VersionRow,
  WRITE_PENDING,
  WRITE_UNACCEPTED,
  WRITE_VERSIONS,
} from "./tools.sql.ts";
import { withProject } from "./with-project.ts";
import { writeTools } from "./write-tools.ts";

export interface UpsertToolsOptions {
  /** The program that registers; a person when undefined. */
  readonly source?: string | undefined;
  /** Whether the definitions count as a person's although a program brings them, such as the operator's own files. */
  readonly asPerson?: boolean | undefined;
  /** Whether each new tool and each change waits until a person accepts it: definitions that came from another machine. */
  readonly waits?: boolean | undefined;
  /** The person recorded for it. */
  readonly by?: Actor | undefined;
  /** The engine's own tools: built-in names and subjects. */
  readonly internal?: boolean | undefined;
  /** Which variables the project's tools may name. */
  readonly allowEnv?: AllowEnv | undefined;
  /** The definition is one that is stored, with other limits: it is not judged again. */
  readonly isStored?: boolean | undefined;
  /** A transaction that holds the project's lock; its owner rings after the commit. */
  readonly tx?: Queryer | undefined;
}

export interface ListToolsRequest extends PageRequest {
  readonly includeInternal?: boolean | undefined;
  /** Only those with a version that waits for a person, deleted ones too. */
  readonly pending?: boolean | undefined;
}

export interface DeleteToolOptions {
  readonly by?: Actor | undefined;
  /** The program no longer has the tool and may register it again. A tool that a person deleted only comes back by a person. */
  readonly byProgram?: boolean | undefined;
}

export interface AcceptedTool extends RegisteredTool {
  readonly accepted: PendingVersion;
}

export interface Tools extends ToolOutlines {
  /** Registers a definition; throws what is wrong with it. */
  upsertTool(projectId: string, upload: unknown, options?: UpsertToolsOptions): Promise<ToolUpsertResult>;
  /** Registers many definitions at once: an outcome or an error for each. A bad one does not stop the others. */
  upsertTools(
    projectId: string,
    uploads: readonly unknown[],
    options?: UpsertToolsOptions,
  ): Promise<readonly (ToolUpsertResult | ToolplaneError)[]>;
  /** The engine's own tools are not shown unless asked for. */
  getTool(projectId: string, toolName: string, includeInternal?: boolean): Promise<RegisteredTool | undefined>;
  /** Deleted ones too: everything known about a name, and the version that waits under it. */
  findTool(projectId: string, toolName: string): Promise<RegisteredTool | undefined>;
  listTools(projectId: string, request?: ListToolsRequest): Promise<Page<RegisteredTool>>;
  /** Newest first, of a deleted tool as well. */
  listToolVersions(projectId: string, toolName: string, page?: PageRequest): Promise<Page<ToolVersion>>;
  /**
   * Puts the waiting version in force, or the named one that the tool had before; throws `conflict` when none is named and several
   * came since a person last decided. `accepted` is what it changed.
   */
  acceptTool(projectId: string, toolName: string, version?: number, by?: Actor): Promise<AcceptedTool>;
  /**
   * Changes the limits of a tool and nothing else; null takes one away, and one that is left out stays. They count as a person's: a service
   * that registers its definition again does not raise them. The program that registered the tool stays its owner.
   */
  setLimits(projectId: string, toolName: string, limits: ToolLimits, by?: Actor): Promise<RegisteredTool>;
  /** Queued calls wait until the tool is resumed; running ones finish. */
  pauseTool(projectId: string, toolName: string, by?: Actor): Promise<void>;
  resumeTool(projectId: string, toolName: string, by?: Actor): Promise<void>;
  /** Its versions stay for the calls made under them, and so do a person's options. */
  deleteTool(projectId: string, toolName: string, options?: DeleteToolOptions): Promise<void>;
}

export interface ToolsOptions extends Pick<Ground, "db" | "doorbell" | "sha256"> {
  readonly clock?: Clock | undefined;
  readonly schemas: Pick<SchemaChecks, "check">;
  /** Which variables tools may name unless the registration says otherwise. */
  readonly allowEnv?: AllowEnv | undefined;
  /** Refuses a definition that the executor of its target could not run. */
  readonly checkTool?: CheckTool | undefined;
}

export type CheckTool = (definition: ToolDefinition) => void;

/** A whole OpenAPI import goes in one request. */
const MAX_TOOLS_AT_ONCE = 500;
const NO_VERSION_LIMIT = 2 ** 31 - 1;

const versionBelow = (cursor: string): number => {
  if (cursor === "") return NO_VERSION_LIMIT;
  const version = Number(cursor);
  if (Number.isInteger(version) && version > 0 && version <= NO_VERSION_LIMIT) return version;
  throw new ToolplaneError("bad_request", "cursor is not one this list has given", { detail: { path: "$.cursor" } });
};

export const noTool = (projectId: string, toolName: string): ToolplaneError =>
  new ToolplaneError("not_found", `project ${projectId} has no tool ${showName(toolName)}`);

const waitsForPerson = (toolName: string, version: number): ToolplaneError =>
  new ToolplaneError("conflict", `version ${version} of ${showName(toolName)} waits to be accepted`, {
    detail: { todo: `decide on it first: toolplane tools accept ${toolName}, or apply the definition you want` },
  });

/** Versions of one tool that wait or waited for a person and were never in force; older ones are dropped. */
const MAX_UNACCEPTED = 20;

const UNKNOWN_PERSON = "an unknown person";

const STATUS_ACTS = { active: "tool.resumed", paused: "tool.paused", deleted: "tool.deleted" } as const;

const actOf = (projectId: string, result: ToolUpsertResult, source: string | undefined): Act => ({
  projectId,
  act: result.outcome === "pending" ? "tool.pending" : "tool.applied",
  subject: result.toolName,
  detail: {
    outcome: result.outcome,
    version: result.version,
    definition_hash: result.definitionHash,
    ...(source === undefined ? {} : { source }),
    ...(result.changed.length === 0 ? {} : { changed: [...result.changed] }),
  },
});

export const createTools = ({ db, doorbell, schemas, sha256, ...rest }: ToolsOptions): Tools => {
  const late = createLateCalls({ db, clock: rest.clock ?? systemClock, doorbell });

  /** Why every call of it would fail, or an option of it do nothing. */
  const judge = async (projectId: string, definition: ToolDefinition): Promise<ToolplaneError | undefined> => {
    try {
      rest.checkTool?.(definition);
      await checkGivenValues(definition, (schema, value) => schemas.check(schema, value, projectId));
      return undefined;
    } catch (error) {
      if (isToolplaneError(error)) return error;
      throw error;
    }
  };

  const parseOne = async (projectId: string, upload: unknown, options: UpsertToolsOptions): Promise<IncomingTool> => {
    const allowEnv = options.allowEnv ?? rest.allowEnv;
    const definition = parseToolDefinition(upload, {
      projectId,
      version: PROTOCOL_VERSION,
      compileSchema: compiledLater,
      ...(options.internal === undefined ? {} : { internal: options.internal }),
      ...(allowEnv === undefined ? {} : { allowEnv }),
    });
    checkTogether(definition);
    await admitParameters(definition, (schema) => schemas.check(schema, undefined, projectId));
    const { source, asPerson = source === undefined, waits = false } = options;
    const refusal = options.isStored === true ? undefined : await judge(projectId, definition);
    return { projectId, definition, hash: definitionHash(definition, sha256), source, asPerson, waits, refusal };
  };

  const tryParse = async (
    projectId: string,
    upload: unknown,
    options: UpsertToolsOptions,
  ): Promise<IncomingTool | ToolplaneError> => {
    try {
      return await parseOne(projectId, upload, options);
    } catch (error) {
      if (isToolplaneError(error)) return error;
      throw error;
    }
  };

  const register = async (
    tx: Queryer,
    projectId: string,
    incoming: readonly IncomingTool[],
    { by, source }: UpsertToolsOptions,
  ) => {
    const names = incoming.map(({ definition }) => definition.tool_name);
    const rows = await tx.query<ToolRow>(READ_TOOLS, [projectId, names]);
    const codes = planPastLookup(rows, incoming);
    const past =
      codes.length === 0 ? [] : await tx.query<PastVersion>(FIND_VERSIONS_OF_CODE, bindCodes(codes, projectId));
    const plan = planTools(rows, incoming, sha256, await findMisfits(rows, incoming, schemas), past);
    const { writes, unaccepted, pending, versions } = plan;
    await writeTools(tx, writes, projectId, late);
    if (unaccepted.length > 0) await tx.query(WRITE_UNACCEPTED, bindToolWrites(unaccepted, projectId));
    if (pending.length > 0) await tx.query(WRITE_PENDING, bindPendingWrites(pending, projectId));
    if (versions.length > 0) await tx.query(WRITE_VERSIONS, bindVersionWrites(versions, projectId));
    const waiting = pending.map(({ toolName }) => toolName);
    if (waiting.length > 0) await tx.query(DROP_UNACCEPTED, [projectId, waiting, MAX_UNACCEPTED]);
    const written = new Set([...writes, ...unaccepted, ...pending].map(({ toolName }) => toolName));
    const done = plan.results.filter((result): result is ToolUpsertResult => !(result instanceof ToolplaneError));
    const acts = done.filter(({ toolName }) => written.has(toolName)).map((one) => actOf(projectId, one, source));
    await recordActs(tx, by, acts);
    return plan;
  };

  const upsertTools: Tools["upsertTools"] = async (projectId, uploads, options = {}) => {
    if (uploads.length > MAX_TOOLS_AT_ONCE)
      throw new ToolplaneError("bad_request", `at most ${MAX_TOOLS_AT_ONCE} tools at once`);
    const parsed: (IncomingTool | ToolplaneError)[] = [];
    for (const upload of uploads) {
      parsed.push(await tryParse(projectId, upload, options));
      // Hundreds of small schemas take seconds together, so other work runs after each.
      if (uploads.length > 1) await breathe();
    }
    const good = parsed.filter((item): item is IncomingTool => !(item instanceof ToolplaneError));
    const { tx } = options;
    const work = (own: Queryer) => register(own, projectId, good, options);
    const plan = await (tx === undefined ? withProject(db, projectId, work) : work(tx));
    if (plan.writes.length > 0 && tx === undefined) doorbell.ring("registry");
    // A limit may have been raised: what waits at its gate may pass.
    if (plan.writes.some(({ limits }) => limits !== null)) doorbell.ring("sessions");
    const results = plan.results.values();
    return parsed
      .map((item) => (item instanceof ToolplaneError ? item : results.next().value))
      .filter((r) => r !== undefined);
  };

  const read = async (tx: Queryer, projectId: string, toolName: string): Promise<ToolRow | undefined> =>
    isToolName(toolName) ? (await tx.query<ToolRow>(READ_TOOLS, [projectId, [toolName]]))[0] : undefined;

  const setStatus = (
    projectId: string,
    toolName: string,
    status: ToolStatus,
    { by, byProgram = false, after }: DeleteToolOptions & { readonly after?: (tx: Queryer) => Promise<unknown> },
  ): Promise<void> =>
    withProject(db, projectId, async (tx) => {
      const deletedBy = status === "deleted" && !byProgram ? (by?.actor ?? UNKNOWN_PERSON) : null;
      const [row] = isToolName(toolName)
        ? await tx.query<{ internal: boolean }>(SET_TOOL_STATUS, [projectId, toolName, status, deletedBy])
        : [];
      if (row === undefined) throw noTool(projectId, toolName);
      if (row.internal && status === "deleted")
        throw new ToolplaneError("bad_request", `${toolName} is one of the engine's own tools and cannot be deleted`);
      await after?.(tx);
      await recordActs(tx, by, [{ projectId, act: STATUS_ACTS[status], subject: toolName }]);
    });

  return {
    ...createToolOutlines(db),
    upsertTools,
    async upsertTool(projectId, upload, options = {}) {
      const [result] = await upsertTools(projectId, [upload], options);
      if (result === undefined) throw new ToolplaneError("internal_error", "registering gave no outcome");
      if (result instanceof ToolplaneError) throw result;
      return result;
    },
    async getTool(projectId, toolName, includeInternal = false) {
      const row = await read(db, projectId, toolName);
      if (row === undefined || row.status === "deleted" || (row.internal && !includeInternal)) return undefined;
      return toTool(projectId, row);
    },
    async findTool(projectId, toolName) {
      const row = await read(db, projectId, toolName);
      return row === undefined || row.internal ? undefined : toTool(projectId, row);
    },
    async listTools(projectId, { includeInternal = false, pending = false, ...page } = {}) {
      const bounds = parsePage(page);
      const asked = [projectId, bounds.after, bounds.limit + 1, includeInternal, pending];
      const rows = await db.query<ToolRow>(LIST_TOOLS, asked);
      const shown = toPage(
        rows,
        bounds,
        (row) => row.tool_name,
        (row) => row,
      );
      const items = await readInPieces(
        shown.items,
        (row) => row.definition.length,
        (row) => toTool(projectId, row),
      );
      return { ...shown, items };
    },
    async listToolVersions(projectId, toolName, page = {}) {
      const bounds = parsePage(page);
      const asked = [projectId, toolName, versionBelow(bounds.after), bounds.limit + 1];
      const rows = await db.query<VersionRow>(LIST_VERSIONS, asked);
      const shown = toPage(
        rows,
        bounds,
        (row) => String(row.version),
        (row) => row,
      );
      return { ...shown, items: await readInPieces(shown.items, (row) => row.definition.length, toToolVersion) };
    },
    async acceptTool(projectId, toolName, version, by) {
      const accepted = await withProject(db, projectId, async (tx) => {
        const found = await read(tx, projectId, toolName);
        if (found === undefined) throw noTool(projectId, toolName);
        const row = await withNamedVersion(tx, projectId, found, version);
        const now = await acceptPending(tx, projectId, row, version, late);
        const { pending } = toTool(projectId, row);
        const weakens = [...(pending?.weakens ?? [])];
        const detail = { version: now, before: row.version, was_deleted: row.status === "deleted", weakens };
        await recordActs(tx, by, [{ projectId, act: "tool.accepted", subject: toolName, detail }]);
        const after = await read(tx, projectId, toolName);
        if (after === undefined || pending === undefined) throw noTool(projectId, toolName);
        return { ...toTool(projectId, after), accepted: pending };
      });
      doorbell.ring("registry");
      return accepted;
    },
    async setLimits(projectId, toolName, limits, by) {
      const changed = await withProject(db, projectId, async (tx) => {
        const row = await read(tx, projectId, toolName);
        if (row === undefined || row.status === "deleted" || row.internal) throw noTool(projectId, toolName);
        const { definition, pending } = toTool(projectId, row);
        if (pending !== undefined) throw waitsForPerson(toolName, pending.version);
        const options = withLimits(definition.options, limits);
        const source = row.source ?? undefined;
        const [result] = await upsertTools(projectId, [{ ...definition, options }], {
          source,
          asPerson: true,
          isStored: true,
          by,
          tx,
        });
        if (result instanceof ToolplaneError) throw result;
        // It may be asked again because the first change was not confirmed.
        if (result?.outcome === "unchanged") await tx.afterCommit(() => late.gateTools(projectId, [toolName]));
        const after = await read(tx, projectId, toolName);
        if (after === undefined) throw noTool(projectId, toolName);
        return toTool(projectId, after);
      });
      doorbell.ring("registry");
      // What waits at its gate may pass.
      doorbell.ring("sessions");
      return changed;
    },
    async pauseTool(projectId, toolName, by) {
      const after = (tx: Queryer) => tx.query(HOLD_PAUSED, [projectId, toolName]);
      await setStatus(projectId, toolName, "paused", { by, after });
      doorbell.ring("registry");
      await late.hold(projectId, toolName);
    },
    async resumeTool(projectId, toolName, by) {
      const after = (tx: Queryer) => tx.query(FREE_PAUSED, [projectId, toolName]);
      await setStatus(projectId, toolName, "active", { by, after });
      doorbell.ring("registry");
      doorbell.ring("queued");
    },
    async deleteTool(projectId, toolName, options = {}) {
      await setStatus(projectId, toolName, "deleted", options);
      doorbell.ring("registry");
    },
  };
};
