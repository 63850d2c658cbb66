// Definitions as calls need them: parsed, with compiled argument checks, from memory where possible.
//   DC1. The memory may be out of date (I13: a ring can be lost). Dispatch compares the version inside its insert and calls
//        `forget`, so a stale entry costs a second try and never runs a replaced tool.
//   DC2. A ring of the registry drops which tool has which version, not what was compiled: equal definitions share one check.
//   DC3. A definition whose text does not match its hash is not used.

import { isToolplaneError, type ToolDefinition, ToolplaneError } from "@toolplane/protocol";
import { type CompileSchema, compileArguments, type ValidateValue } from "@toolplane/protocol/registry";
import type { Ground } from "../ports/ground.ts";
import { type Log, silentLog } from "../ports/log.ts";
import { createRecent } from "../recent/recent.ts";
import type { Queryer } from "../sql/database.ts";
import {
  bindDefinitionAsks,
  type DefinitionAsk,
  type DefinitionRow,
  READ_DEFINITIONS,
  type ToolStatus,
} from "./definition-cache.sql.ts";
import { freezeJson } from "./freeze-json.ts";

export interface CompiledDefinition {
  readonly projectId: string;
  readonly toolName: string;
  readonly version: number;
  readonly definitionHash: string;
  readonly status: ToolStatus;
  readonly definition: ToolDefinition;
  /** Checks layered arguments; env-managed parameters are not required. */
  readonly validate: ValidateValue;
}

export interface ToolKey {
  readonly projectId: string;
  readonly toolName: string;
}

export interface ToolVersion extends ToolKey {
  readonly version: number;
}

export interface Definitions {
  /**
   * The current definition of each tool, in the order asked; undefined where there is none (or it was deleted). `on`: the transaction of the caller,
   * which must not wait for a second connection.
   */
  resolve(tools: readonly ToolKey[], on?: Queryer): Promise<readonly (CompiledDefinition | undefined)[]>;
  /** Versions, even if their tools were changed or deleted since: a call keeps the version it was made under. */
  resolveVersions(tools: readonly ToolVersion[], on?: Queryer): Promise<readonly (CompiledDefinition | undefined)[]>;
  /** One of them. */
  resolveVersion(projectId: string, toolName: string, version: number): Promise<CompiledDefinition | undefined>;
  forget(projectId: string, toolName: string): void;
  close(): void;
}

export interface DefinitionsOptions extends Pick<Ground, "doorbell" | "sha256"> {
  readonly db: Queryer;
  readonly compile: CompileSchema;
  readonly log?: Log | undefined;
  readonly maxEntries?: number | undefined;
}

interface Checked {
  readonly definition: ToolDefinition;
  readonly validate: ValidateValue;
}

// A compiled definition takes tens of kilobytes; a thousand is more than a project shows its agents.
const DEFAULT_MAX_ENTRIES = 1_000;

const CURRENT = "current";

// Project ids and tool names hold no blanks.
const keyOf = ({ projectId, toolName, version }: DefinitionAsk): string =>
  `${projectId} ${toolName} ${version ?? CURRENT}`;

export const createDefinitions = (options: DefinitionsOptions): Definitions => {
  const { db, doorbell, compile, sha256, log = silentLog } = options;
  const maxEntries = options.maxEntries ?? DEFAULT_MAX_ENTRIES;
  const known = createRecent<CompiledDefinition>(maxEntries);
  const checkedByHash = createRecent<Checked>(maxEntries);
  let generation = 0;

  const forgetAll = (): void => {
    generation++;
    known.clear();
  };
  const stopListening = doorbell.listen("registry", forgetAll);

  const compileOrRefuseAll = (definition: ToolDefinition, ask: DefinitionAsk): ValidateValue => {
    try {
      return compileArguments(definition, compile);
    } catch (error) {
      if (!isToolplaneError(error)) throw error;
      // The definition was registered under older rules. Its calls fail with this reason; the other calls of the flush do not.
      log.error(
        "the parameters of a registered tool are not a usable schema: its calls fail until it is registered again",
        { projectId: ask.projectId, toolName: ask.toolName },
      );
      return () => [{ path: "$", message: "the tool's parameters are not a usable schema; register the tool again" }];
    }
  };

  const check = (row: DefinitionRow, ask: DefinitionAsk): Checked => {
    const found = checkedByHash.get(row.definition_hash);
    if (found !== undefined) return found;
    if (sha256(row.definition) !== row.definition_hash)
      throw new ToolplaneError("internal_error", `version ${row.version} of ${ask.toolName} does not have its hash`);
    const definition = freezeJson(JSON.parse(row.definition) as ToolDefinition);
    const checked = { definition, validate: compileOrRefuseAll(definition, ask) };
    checkedByHash.set(row.definition_hash, checked);
    return checked;
  };

  const load = async (
    asks: readonly DefinitionAsk[],
    on: Queryer,
  ): Promise<ReadonlyMap<string, CompiledDefinition>> => {
    const before = generation;
    const rows = await on.query<DefinitionRow>(READ_DEFINITIONS, bindDefinitionAsks(asks));
    const loaded = new Map<string, CompiledDefinition>();
    for (const row of rows) {
      const ask = asks[row.ord - 1];
      if (ask === undefined) continue;
      const { version, definition_hash: definitionHash, status } = row;
      const { projectId, toolName } = ask;
      const entry = { projectId, toolName, version, definitionHash, status, ...check(row, ask) };
      loaded.set(keyOf(ask), entry);
      // A ring came meanwhile: what was read may be the state before the change.
      if (before === generation) known.set(keyOf(ask), entry);
    }
    return loaded;
  };

  const resolveAll = async (
    asks: readonly DefinitionAsk[],
    on: Queryer = db,
  ): Promise<readonly (CompiledDefinition | undefined)[]> => {
    const found = new Map<string, CompiledDefinition>();
    const missing = new Map<string, DefinitionAsk>();
    for (const ask of asks) {
      const key = keyOf(ask);
      const entry = known.get(key);
      if (entry === undefined) missing.set(key, ask);
      else found.set(key, entry);
    }
    const loaded = missing.size === 0 ? undefined : await load([...missing.values()], on);
    return asks.map((ask) => found.get(keyOf(ask)) ?? loaded?.get(keyOf(ask)));
  };

  return {
    resolve: (tools, on) =>
      resolveAll(
        tools.map(({ projectId, toolName }) => ({ projectId, toolName, version: null })),
        on,
      ),
    resolveVersions: (tools, on) =>
      resolveAll(
        tools.map(({ projectId, toolName, version }) => ({ projectId, toolName, version })),
        on,
      ),
    async resolveVersion(projectId, toolName, version) {
      return (await resolveAll([{ projectId, toolName, version }]))[0];
    },
    forget(projectId, toolName) {
      generation++;
      known.delete(keyOf({ projectId, toolName, version: null }));
    },
    close: stopListening,
  };
};
