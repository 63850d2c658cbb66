// Toolplane as a library: caller, plane and tool in one process. By `openPlane`; a checkout from before it is measured by the
// same parts put together by hand.

import { createEngine } from "@toolplane/engine";
import { serveTools, silentLog, systemClock, type Tool } from "@toolplane/sdk";
import * as server from "@toolplane/server";
import type { createEngineGateway } from "@toolplane/server/internal";
import type { Caller } from "../programs/caller.ts";
import type { ProgramConfig } from "../programs/conversation.ts";
import { answeredLines, openAccounts } from "./accounts.ts";
import { ARGUMENTS, CONCURRENCY, checkEcho, createEcho, PROJECT, TARGET, TOOL } from "./tool.ts";

const WAIT_MS = 60_000;

interface OwnPlane {
  call(tool: string, args: object, options: { readonly wait: number }): Promise<unknown>;
  serve(tools: readonly Tool[], options: { readonly target: string; readonly concurrency: number }): Promise<unknown>;
  close(): Promise<void>;
}

type OpenPlane = (options: { readonly databaseUrl: string; readonly project: string }) => Promise<OwnPlane>;

/** What the public door of a checkout has: this one, or one from before `openPlane`. */
interface PublicDoor {
  readonly openPlane?: OpenPlane;
  readonly createEngineGateway?: typeof createEngineGateway;
}

const door = server as PublicDoor;

const openByPlane = async (open: OpenPlane, { databaseUrl = "", journal }: ProgramConfig): Promise<Caller> => {
  const accounts = openAccounts(journal);
  const plane = await open({ databaseUrl, project: PROJECT });
  await plane.serve([createEcho(accounts)], { target: TARGET, concurrency: CONCURRENCY });
  return {
    async call() {
      checkEcho(await plane.call(TOOL, ARGUMENTS, { wait: WAIT_MS / 1000 }));
    },
    async close() {
      await plane.close();
      accounts.write();
    },
  };
};

const openByParts = async ({ databaseUrl = "", journal }: ProgramConfig): Promise<Caller> => {
  if (door.createEngineGateway === undefined) throw new RangeError("this checkout cannot be used as a library");
  const accounts = openAccounts(journal);
  const engine = await createEngine({ connection: { connectionString: databaseUrl } });
  await engine.projects.createProject({ project_id: PROJECT, title: "Bench", bootstrap: false }, "sys.bench");
  const gateway = door.createEngineGateway({
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

export const openCaller = (config: ProgramConfig): Promise<Caller> =>
  door.openPlane === undefined ? openByParts(config) : openByPlane(door.openPlane, config);
