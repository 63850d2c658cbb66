// Toolplane as a library: caller, engine, gateway, runner and tool in one process. The one place to change when the plane
// can be opened by one function.

import { createEngine } from "@toolplane/engine";
import { serveTools, silentLog, systemClock } from "@toolplane/sdk";
import { createEngineGateway } from "@toolplane/server";
import type { Caller } from "../programs/caller.ts";
import type { ProgramConfig } from "../programs/conversation.ts";
import { answeredLines, openAccounts } from "./accounts.ts";
import { ARGUMENTS, CONCURRENCY, createEcho, PROJECT, TARGET, TOOL } from "./tool.ts";

const WAIT_MS = 60_000;

export const openCaller = async ({ databaseUrl, journal }: ProgramConfig): Promise<Caller> => {
  const accounts = openAccounts(journal);
  const engine = await createEngine({ connection: { connectionString: databaseUrl ?? "" } });
  await engine.projects.createProject({ project_id: PROJECT, title: "Bench", bootstrap: false }, "sys.bench");
  const gateway = createEngineGateway({
    engine,
    projectId: PROJECT,
    actorId: `tool.${TARGET}`,
    holder: "bench",
    clock: systemClock,
    random: Math.random,
  });
  const serving = await serveTools([createEcho(accounts)], {
    target: TARGET,
    gateway,
    concurrency: CONCURRENCY,
    handleSignals: false,
    log: silentLog,
  });
  return {
    async call() {
      const asked = { projectId: PROJECT, toolName: TOOL, arguments: ARGUMENTS };
      const { status, toolCallId, resultCardId } = await engine.calls.call(asked, WAIT_MS);
      if (status !== "success" || resultCardId === null) throw new RangeError(`a call ended as ${status}`);
      for (const line of answeredLines({ project: PROJECT, call: toolCallId, card: resultCardId })) accounts.add(line);
    },
    async close() {
      await serving.stop();
      await engine.close();
      accounts.write();
    },
  };
};
