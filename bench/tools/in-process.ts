// Caller, engine, gateway, runner and tool in one process, on a PostgreSQL of its own that syncs to disk.

import { createEngine } from "@toolplane/engine";
import { serveTools, silentLog, systemClock } from "@toolplane/sdk";
import { createEngineGateway } from "@toolplane/server";
import { startTestPostgres } from "@toolplane/testkit";
import { ARGUMENTS, countWords, TARGET } from "./tool.ts";

const PROJECT = "bench";

export interface Way extends AsyncDisposable {
  readonly name: string;
  call(): Promise<void>;
}

export const openInProcess = async (): Promise<Way> => {
  const postgres = await startTestPostgres({ sync: true });
  const engine = await createEngine({ connection: { connectionString: postgres.url() } });
  await engine.projects.createProject({ project_id: PROJECT, title: "Bench", bootstrap: false }, "sys.bench");
  const gateway = createEngineGateway({
    engine,
    projectId: PROJECT,
    actorId: `tool.${TARGET}`,
    holder: "bench",
    clock: systemClock,
    random: Math.random,
  });
  const serving = await serveTools([countWords], {
    target: TARGET,
    gateway,
    concurrency: 256,
    handleSignals: false,
    log: silentLog,
  });
  return {
    name: "in-process",
    async call() {
      const view = await engine.calls.call(
        { projectId: PROJECT, toolName: countWords.name, arguments: ARGUMENTS },
        30_000,
      );
      if (view.status !== "success") throw new RangeError(`a call ended as ${view.status}`);
    },
    async [Symbol.asyncDispose]() {
      await serving.stop();
      await engine.close();
      await postgres.stop();
    },
  };
};
