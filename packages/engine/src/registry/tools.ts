// Tools of a project: registered, versioned, paused, deleted. Definitions for running calls are read elsewhere
// (definition-cache.ts); this is the side that changes them, and every change rings `registry`.

import { setImmediate as breathe } from "node:timers/promises";
import {
  definitionHash,
  type HashText,
  isToolplaneError,
  PROTOCOL_VERSION,
  showName,
  type ToolDefinition,
  ToolplaneError,
} from "@toolplane/protocol";
import { type AllowEnv, isToolName, parseToolDefinition } from "@toolplane/protocol/registry";
import { readInTurns } from "../coalescer/in-turns.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Database, Queryer } from "../sql/database.ts";
import { admitParameters, compiledLater } from "./admit-parameters.ts";
import type { ToolStatus } from "./definition-cache.sql.ts";
import { type Page, type PageRequest, parsePage, toPage } from "./page.ts";
import { type IncomingTool, planTools, type ToolUpsertResult } from "./plan-tools.ts";
import type { SchemaChecks } from "./schema-checks.ts";
import {
  bindToolWrites,
  LIST_TARGETS,
  LIST_TOOLS,
  LIST_VERSIONS,
  PARK_CALLS,
  READ_TOOLS,
  SET_TOOL_STATUS,
  type TargetRow,
  type ToolRow,
  UNPARK_CALLS,
  type VersionRow,
  WRITE_TOOLS,
  WRITE_VERSIONS,
} from "./tools.sql.ts";
import { withProject } from "./with-project.ts";

export interface RegisteredTool {
  readonly projectId: string;
  readonly toolName: string;
  readonly version: number;
  readonly definitionHash: string;
  readonly status: ToolStatus;
  readonly source: string | null;
  readonly definition: ToolDefinition;
  readonly updatedAt: string;
}

export interface ToolVersion {
  readonly version: number;
  readonly definitionHash: string;
  readonly definition: ToolDefinition;
  readonly createdAt: string;
}

export interface UpsertToolsOptions {
  /** The program that registers; a person when undefined. */
  readonly source?: string | undefined;
  /** The engine's own tools: built-in names and subjects. */
  readonly internal?: boolean | undefined;
  /** Which variables the project's tools may name. */
  readonly allowEnv?: AllowEnv | undefined;
  /** A transaction that holds the project's lock; whoever commits it rings. */
  readonly tx?: Queryer | undefined;
}

export interface ListToolsRequest extends PageRequest {
  readonly includeInternal?: boolean | undefined;
}

export interface Tools {
  /** Throws what is wrong with it. */
  upsertTool(projectId: string, upload: unknown, options?: UpsertToolsOptions): Promise<ToolUpsertResult>;
  /** Many at once; an outcome or an error for each, and the good ones are registered. */
  upsertTools(
    projectId: string,
    uploads: readonly unknown[],
    options?: UpsertToolsOptions,
  ): Promise<readonly (ToolUpsertResult | ToolplaneError)[]>;
  /** The engine's own tools are not shown unless asked for. */
  getTool(projectId: string, toolName: string, includeInternal?: boolean): Promise<RegisteredTool | undefined>;
  listTools(projectId: string, request?: ListToolsRequest): Promise<Page<RegisteredTool>>;
  /** Newest first, of a deleted tool as well. */
  listToolVersions(
    projectId: string,
    toolName: string,
    limit?: number,
    below?: number,
  ): Promise<readonly ToolVersion[]>;
  /** Queued calls wait until the tool is resumed; running ones finish. */
  pauseTool(projectId: string, toolName: string): Promise<void>;
  resumeTool(projectId: string, toolName: string): Promise<void>;
  /** The name is free again; its versions stay for the calls made under them. */
  deleteTool(projectId: string, toolName: string): Promise<void>;
  listTargets(): Promise<readonly { readonly projectId: string; readonly target: string }[]>;
}

export interface ToolsOptions {
  readonly db: Database;
  readonly doorbell: Doorbell;
  readonly schemas: Pick<SchemaChecks, "check">;
  readonly sha256: HashText;
  /** Which variables tools may name unless the registration says otherwise. */
  readonly allowEnv?: AllowEnv | undefined;
}

/** A whole OpenAPI import goes in one request. */
const MAX_TOOLS_AT_ONCE = 500;
const MAX_VERSIONS = 500;
const NO_VERSION_LIMIT = 2 ** 31 - 1;

const noTool = (projectId: string, toolName: string): ToolplaneError =>
  new ToolplaneError("not_found", `project ${projectId} has no tool ${showName(toolName)}`);

const toTool = (projectId: string, row: ToolRow): RegisteredTool => ({
  projectId,
  toolName: row.tool_name,
  version: row.version,
  definitionHash: row.definition_hash,
  status: row.status,
  source: row.source,
  definition: JSON.parse(row.definition) as ToolDefinition,
  updatedAt: row.updated_at.toISOString(),
});

export const createTools = ({ db, doorbell, schemas, sha256, ...rest }: ToolsOptions): Tools => {
  const parseOne = async (projectId: string, upload: unknown, options: UpsertToolsOptions): Promise<IncomingTool> => {
    const allowEnv = options.allowEnv ?? rest.allowEnv;
    const definition = parseToolDefinition(upload, {
      projectId,
      version: PROTOCOL_VERSION,
      compileSchema: compiledLater,
      ...(options.internal === undefined ? {} : { internal: options.internal }),
      ...(allowEnv === undefined ? {} : { allowEnv }),
    });
    await admitParameters(definition, (schema) => schemas.check(schema, undefined, projectId));
    return { projectId, definition, hash: definitionHash(definition, sha256), source: options.source };
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

  const register = async (tx: Queryer, projectId: string, incoming: readonly IncomingTool[]) => {
    const names = incoming.map(({ definition }) => definition.tool_name);
    const plan = planTools(await tx.query<ToolRow>(READ_TOOLS, [projectId, names]), incoming);
    if (plan.writes.length > 0) {
      await tx.query(WRITE_TOOLS, bindToolWrites(plan.writes, projectId));
      await tx.query(WRITE_VERSIONS, bindToolWrites(plan.writes, projectId));
    }
    return plan;
  };

  const upsertTools: Tools["upsertTools"] = async (projectId, uploads, options = {}) => {
    if (uploads.length > MAX_TOOLS_AT_ONCE)
      throw new ToolplaneError("bad_request", `at most ${MAX_TOOLS_AT_ONCE} tools at once`);
    const parsed: (IncomingTool | ToolplaneError)[] = [];
    for (const upload of uploads) {
      parsed.push(await tryParse(projectId, upload, options));
      // Hundreds of small schemas take seconds together: others get their turn after each.
      if (uploads.length > 1) await breathe();
    }
    const good = parsed.filter((item): item is IncomingTool => !(item instanceof ToolplaneError));
    const { tx } = options;
    const work = (own: Queryer) => register(own, projectId, good);
    const plan = await (tx === undefined ? withProject(db, projectId, work) : work(tx));
    if (plan.writes.length > 0 && tx === undefined) doorbell.ring("registry");
    const results = plan.results.values();
    return parsed
      .map((item) => (item instanceof ToolplaneError ? item : results.next().value))
      .filter((r) => r !== undefined);
  };

  const setStatus = (
    projectId: string,
    toolName: string,
    status: ToolStatus,
    after?: (tx: Queryer) => Promise<unknown>,
  ): Promise<void> =>
    withProject(db, projectId, async (tx) => {
      const [row] = isToolName(toolName)
        ? await tx.query<{ internal: boolean }>(SET_TOOL_STATUS, [projectId, toolName, status])
        : [];
      if (row === undefined) throw noTool(projectId, toolName);
      if (row.internal && status === "deleted")
        throw new ToolplaneError("bad_request", `${toolName} is one of the engine's own tools and cannot be deleted`);
      await after?.(tx);
    });

  return {
    upsertTools,
    async upsertTool(projectId, upload, options = {}) {
      const [result] = await upsertTools(projectId, [upload], options);
      if (result === undefined) throw new ToolplaneError("internal_error", "registering gave no outcome");
      if (result instanceof ToolplaneError) throw result;
      return result;
    },
    async getTool(projectId, toolName, includeInternal = false) {
      if (!isToolName(toolName)) return undefined;
      const [row] = await db.query<ToolRow>(READ_TOOLS, [projectId, [toolName]]);
      if (row === undefined || row.status === "deleted" || (row.internal && !includeInternal)) return undefined;
      return toTool(projectId, row);
    },
    async listTools(projectId, { includeInternal = false, ...page } = {}) {
      const bounds = parsePage(page);
      const rows = await db.query<ToolRow>(LIST_TOOLS, [projectId, bounds.after, bounds.limit + 1, includeInternal]);
      const shown = toPage(
        rows,
        bounds,
        (row) => row.tool_name,
        (row) => row,
      );
      const items = await readInTurns(
        shown.items,
        (row) => row.definition.length,
        (row) => toTool(projectId, row),
      );
      return { ...shown, items };
    },
    async listToolVersions(projectId, toolName, limit = 100, below = NO_VERSION_LIMIT) {
      const { limit: checked } = parsePage({ limit: Math.min(limit, MAX_VERSIONS) });
      const rows = await db.query<VersionRow>(LIST_VERSIONS, [projectId, toolName, below, checked]);
      return readInTurns(
        rows,
        (row) => row.definition.length,
        (row) => ({
          version: row.version,
          definitionHash: row.definition_hash,
          definition: JSON.parse(row.definition) as ToolDefinition,
          createdAt: row.created_at.toISOString(),
        }),
      );
    },
    async pauseTool(projectId, toolName) {
      const park = (tx: Queryer) => tx.query(PARK_CALLS, [projectId, toolName]);
      await setStatus(projectId, toolName, "paused", park);
      // A dispatch that had read the tool before it was paused may have committed meanwhile.
      await withProject(db, projectId, park);
      doorbell.ring("registry");
    },
    async resumeTool(projectId, toolName) {
      await setStatus(projectId, toolName, "active", (tx) => tx.query(UNPARK_CALLS, [projectId, toolName]));
      doorbell.ring("registry");
      doorbell.ring("queued");
    },
    async deleteTool(projectId, toolName) {
      await setStatus(projectId, toolName, "deleted");
      doorbell.ring("registry");
    },
    async listTargets() {
      const rows = await db.query<TargetRow>(LIST_TARGETS);
      return rows.map(({ project_id, target }) => ({ projectId: project_id, target }));
    },
  };
};
