// An engine on a database of its own, with a project and a tool or two: what a scenario starts from.

import { createEngine, type Engine, type EngineOptions } from "@toolplane/engine";
import { migrate } from "@toolplane/engine/internal";
import { createTestDatabase, type TestDatabase } from "../postgres-database.ts";

export interface TestEngine extends AsyncDisposable {
  readonly engine: Engine;
  readonly database: TestDatabase;
  readonly projectId: string;
  /** A second engine on the same database: another process, as far as the database can tell. */
  another(options?: Partial<EngineOptions>): Promise<Engine>;
}

export interface ToolSeed {
  readonly name: string;
  readonly target?: string;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly afterExecution?: "suspend" | "terminate";
}

export const ENGINE_TEMPLATE = {
  name: "engine",
  migrate: async (url: string): Promise<void> => {
    await migrate({ connectionString: url });
  },
};

export const toolUpload = (seed: ToolSeed): Record<string, unknown> => ({
  tool_name: seed.name,
  description: `${seed.name}, for tests`,
  target_subject: `cg.v1r4.{project_id}.{channel_id}.cmd.tool.${seed.target ?? "test"}.${seed.name}`,
  after_execution: seed.afterExecution ?? "suspend",
  parameters: seed.parameters ?? { type: "object", properties: {} },
  options: seed.options ?? {},
});

/** `safe` may run again after a crash, `unsafe` may not; both on target `test`. */
const DEFAULT_TOOLS: readonly ToolSeed[] = [
  { name: "safe", options: { retry: "safe" } },
  { name: "unsafe", options: { retry: "never" } },
];

const PROJECT = "demo";

export const startTestEngine = async (
  options: Partial<EngineOptions> & { readonly tools?: readonly ToolSeed[] } = {},
): Promise<TestEngine> => {
  const { tools = DEFAULT_TOOLS, ...engineOptions } = options;
  const database = await createTestDatabase(ENGINE_TEMPLATE);
  const connection = { connectionString: database.url };
  const engines: Engine[] = [];
  const start = async (more: Partial<EngineOptions>): Promise<Engine> => {
    const engine = await createEngine({ connection, watchdog: false, ...more });
    engines.push(engine);
    return engine;
  };
  const engine = await start(engineOptions);
  await engine.projects.createProject({ project_id: PROJECT, title: "Demo", bootstrap: false }, "sys.test");
  for (const seed of tools) await engine.tools.upsertTool(PROJECT, toolUpload(seed));
  return {
    engine,
    database,
    projectId: PROJECT,
    another: (more = {}) => start({ ...engineOptions, ...more }),
    async [Symbol.asyncDispose]() {
      for (const one of engines) await one.close();
      await database.drop();
    },
  };
};
