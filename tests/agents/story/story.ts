// One telling of the story: a database of its own, tools, a project manager and a person in this process, and a worker in
// another one, which is killed after so many milliseconds and replaced.

import { createPmo, createScriptBrain, PMO_SERVICE, parseScript } from "@toolplane/agents";
import { type Engine, systemClock } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import { bootstrapTools } from "@toolplane/protocol/registry";
import { createRunner, defineTool, serveTools, silentLog, startToolService, type Tool } from "@toolplane/sdk";
import { createEngineGateway } from "@toolplane/server/internal";
import {
  answerByBrain,
  eventually,
  type ModelServer,
  queryTestDatabase,
  runTestProgram,
  startModelServer,
  startTestEngine,
} from "@toolplane/testkit";
import { OPEN_TURNS } from "./story-record.sql.ts";
import { readStory, type StoryRecord } from "./story-record.ts";
import { POOL, profileOf, SCRIPTS, type StoryRole, TARGET, TOOLS } from "./story-scripts.ts";
import type { StoryWorkerConfig } from "./story-worker.ts";

export interface StoryOptions {
  /** When the worker is killed; undefined: never. */
  readonly killAfterMs?: number | undefined;
  /** Thinks by a model behind a socket instead of by the script itself. */
  readonly byModel?: boolean | undefined;
}

export interface Told {
  readonly record: StoryRecord;
  readonly deliverable: string;
  readonly status: string;
  /** False when the story was over before the kill. */
  readonly killed: boolean;
}

/** A killed worker is noticed soon. A late worker is taken for a killed one too, so the number of tries is not limited here. */
const TURNS = { claimSeconds: 1, maxClaims: 1_000 };
const PATIENCE_MS = 90_000;
const INSTRUCTION = "tell me of the sea and of the sky";

const act = (name: string, run: (text: string) => object): Tool =>
  defineTool({
    name,
    description: `${name}, for the story`,
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const,
    retry: "safe",
    run: async ({ text }) => run(text) as Record<string, string>,
  });

const ACTS: readonly Tool[] = [
  act("count", (text) => ({ words: text.split(" ").length })),
  act("upper", (text) => ({ text: text.toUpperCase() })),
  act("reverse", (text) => ({ text: [...text].reverse().join("") })),
  act("risky", (text) => ({ text: `${text} was pressed` })),
];

const ROLES = Object.keys(SCRIPTS) as readonly StoryRole[];

/** The same scripts, from behind a socket: the model's name says whose. */
const startModel = (): Promise<ModelServer> => {
  const brains = new Map(ROLES.map((role) => [role, createScriptBrain(parseScript(SCRIPTS[role], role))]));
  return startModelServer(
    answerByBrain(({ model }) => {
      const brain = brains.get(model as StoryRole);
      if (brain === undefined) throw new ToolplaneError("not_found", `there is no model ${model}`);
      return brain;
    }),
  );
};

const gatewayOf = (engine: Engine, projectId: string, actorId: string) =>
  createEngineGateway({ engine, projectId, actorId, holder: "story", clock: systemClock, random: Math.random });

/** Says yes to whatever waits, until told to stop. */
const startPerson = (engine: Engine, projectId: string, signal: AbortSignal): Promise<void> =>
  (async () => {
    while (!signal.aborted) {
      for (const { toolCallId } of (await engine.approvals.list(projectId)).items)
        await engine.approvals.approve({ projectId, toolCallId, by: "the captain" });
      await systemClock.sleep(50, signal);
    }
  })();

const startWorker = async (url: string, origin: string | undefined) => {
  const config: StoryWorkerConfig = { url, pool: POOL, origin, turns: TURNS };
  const program = runTestProgram(new URL("./story-worker.ts", import.meta.url), [JSON.stringify(config)]);
  await program.next();
  return program;
};

export const tellStory = async (options: StoryOptions = {}): Promise<Told> => {
  await using t = await startTestEngine({
    tools: [],
    turns: TURNS,
    watchdog: true,
  });
  const { engine, projectId } = t;
  const ending = new AbortController();
  const model = options.byModel === true ? await startModel() : undefined;
  for (const upload of bootstrapTools({ bundledTarget: "bundled" }))
    await engine.tools.upsertTool(projectId, upload, { internal: true });
  for (const upload of TOOLS) await engine.tools.upsertTool(projectId, upload);
  for (const role of ROLES) await engine.profiles.upsertProfile(projectId, profileOf(role, model?.url));
  await engine.agents.upsertAgent(projectId, { agent_id: "lead", profile_name: "lead" });
  const tools = gatewayOf(engine, projectId, `tool.${TARGET}`);
  const serving = await serveTools(ACTS, { target: TARGET, gateway: tools, handleSignals: false, log: silentLog });
  const pmo = createPmo({ engine });
  const listening = await pmo.listen();
  const gateway = gatewayOf(engine, projectId, PMO_SERVICE.actor);
  const managing = startToolService({
    gateway,
    runner: createRunner({ gateway, executor: pmo.executor, ...PMO_SERVICE, log: silentLog }),
    target: PMO_SERVICE.target,
    concurrency: 8,
    clock: systemClock,
    random: Math.random,
    log: silentLog,
  });
  const person = startPerson(engine, projectId, ending.signal);
  const first = await startWorker(t.database.url, model?.origin);
  // It waits for its turn already, so that the kill costs no start of a program.
  const second = options.killAfterMs === undefined ? undefined : await startWorker(t.database.url, model?.origin);
  try {
    const turn = await engine.turns.spawn({
      projectId,
      agentId: "lead",
      sourceAgentId: "sys.api",
      context: { instruction: INSTRUCTION },
    });
    let killed = false;
    if (options.killAfterMs !== undefined) {
      const ended = await engine.turns.wait(turn, options.killAfterMs);
      killed = ended?.endedAt === null;
      await first.kill("SIGKILL");
    }
    const ended = await engine.turns.wait(turn, PATIENCE_MS);
    await eventually(async () => (await queryTestDatabase(t.database.url, OPEN_TURNS, [projectId]))[0]?.open === 0);
    const [card] = await engine.cards.getCards(projectId, [ended?.deliverableCardId]);
    return {
      record: await readStory(t.database.url, projectId),
      deliverable: card?.content.__type__ === "TextContent" ? card.content.text : JSON.stringify(card?.content),
      status: ended?.status ?? "missing",
      killed,
    };
  } finally {
    ending.abort();
    await person;
    await first.kill("SIGKILL");
    await second?.kill("SIGKILL");
    await managing.stop({ drainMs: 2_000 });
    await listening.stop();
    await serving.stop({ drainMs: 2_000 });
    await model?.close();
  }
};
