// A whole plane in one process, on a PostgreSQL of its own: an engine, a tool service behind the sdk's runner, agents of
// one profile, workers with a brain that is a function.

import {
  type Brain,
  type BrainFunction,
  createFunctionBrain,
  createWorker,
  type Worker,
  type WorkerOptions,
} from "@toolplane/agents";
import type { Engine, EngineOptions, SpawnedTurn, TurnView } from "@toolplane/engine";
import type { SpawnRequest } from "@toolplane/engine/internal";
import { type Card, ToolplaneError } from "@toolplane/protocol";
import { defineTool, serveTools, silentLog, systemClock, type Tool } from "@toolplane/sdk";
import { createEngineGateway } from "@toolplane/server/internal";
import { startTestEngine, type TestEngine } from "@toolplane/testkit";

export const POOL = "pool_test";
export const PROFILE = "tester";
export const TARGET = "agents";

export interface AgentPlaneOptions {
  readonly tools?: readonly Tool[];
  readonly profile?: Readonly<Record<string, unknown>>;
  readonly engine?: Partial<EngineOptions>;
}

export interface AgentPlane extends AsyncDisposable {
  readonly t: TestEngine;
  readonly engine: Engine;
  readonly projectId: string;
  agents(...ids: readonly string[]): Promise<void>;
  spawn(agentId: string, instruction: string, more?: Partial<SpawnRequest>): Promise<SpawnedTurn>;
  startWorker(think: BrainFunction | Brain, options?: Partial<WorkerOptions>): Promise<Worker>;
  /** The turn when it has ended; a turn that does not is a failure. */
  ended(turn: Pick<SpawnedTurn, "agentTurnId">, waitMs?: number): Promise<TurnView>;
  outputOf(turn: Pick<SpawnedTurn, "outputBoxId">): Promise<readonly Card[]>;
  deliverableOf(turn: TurnView): Promise<unknown>;
}

/** Answers with what it was given. */
export const ECHO: Tool = defineTool({
  name: "echo",
  description: "Say it again",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const,
  retry: "safe",
  run: async ({ text }) => ({ text }),
});

/** Fails as it is told. */
export const FAIL: Tool = defineTool({
  name: "fail",
  description: "Fail",
  parameters: { type: "object", properties: {} } as const,
  retry: "safe",
  run: async () => {
    throw new ToolplaneError("tool_error", "it said no");
  },
});

export const openAgentPlane = async (options: AgentPlaneOptions = {}): Promise<AgentPlane> => {
  const { tools = [ECHO, FAIL] } = options;
  const t = await startTestEngine({ tools: [], ...options.engine });
  const { engine, projectId } = t;
  const gateway = createEngineGateway({
    engine,
    projectId,
    actorId: `tool.${TARGET}`,
    holder: "test",
    clock: systemClock,
    random: Math.random,
  });
  const serving = await serveTools(tools, {
    target: TARGET,
    gateway,
    concurrency: 64,
    handleSignals: false,
    log: silentLog,
  });
  const profile = {
    name: PROFILE,
    worker_target: POOL,
    allowed_tools: tools.map(({ name }) => name),
    ...options.profile,
  };
  await engine.profiles.upsertProfile(projectId, profile);
  const workers: Worker[] = [];

  return {
    t,
    engine,
    projectId,
    async agents(...ids) {
      for (const agent_id of ids) await engine.agents.upsertAgent(projectId, { agent_id, profile_name: PROFILE });
    },
    spawn: (agentId, instruction, more = {}) =>
      engine.turns.spawn({ projectId, agentId, sourceAgentId: "sys.test", context: { instruction }, ...more }),
    async startWorker(think, more = {}) {
      const brain = typeof think === "function" ? createFunctionBrain(think) : think;
      const worker = createWorker({ engine, brains: async () => brain, workerTargets: [POOL], ...more });
      workers.push(worker);
      await worker.start();
      return worker;
    },
    async ended({ agentTurnId }, waitMs = 20_000) {
      const view = await engine.turns.wait({ projectId, agentTurnId }, waitMs);
      if (view?.endedAt == null) throw new ToolplaneError("internal_error", `turn ${agentTurnId} is ${view?.status}`);
      return view;
    },
    async outputOf({ outputBoxId }) {
      return (await engine.boxes.loadBoxCards(projectId, outputBoxId, 500)) ?? [];
    },
    async deliverableOf({ deliverableCardId }) {
      const [card] = await engine.cards.getCards(projectId, [deliverableCardId]);
      const { content } = card ?? {};
      if (content?.__type__ === "TextContent") return content.text;
      return content?.__type__ === "JsonContent" ? content.data : undefined;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map((worker) => worker.stop({ drainMs: 0 })));
      await serving.stop();
      await t[Symbol.asyncDispose]();
    },
  };
};
