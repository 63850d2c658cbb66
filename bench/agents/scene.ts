// What is measured: an engine on a server of its own that syncs to disk, a pool of agents with one profile, a worker whose
// brain is a function that takes no time, and a tool that does nothing. One process holds all of it.

import { type BrainFunction, createFunctionBrain, createWorker, type Worker } from "@toolplane/agents";
import { createEngine, type Engine } from "@toolplane/engine";
import { createDatabase, type Database } from "@toolplane/engine/internal";
import { defineTool, serveTools, silentLog, systemClock } from "@toolplane/sdk";
import { createEngineGateway } from "@toolplane/server/internal";

export const PROJECT = "bench";
export const CONNECTIONS = 10;
const POOL = "bench_pool";
const TARGET = "bench";
const PROFILE = "bench";

/** Does nothing and may run again: what is left is the way to it and back. */
const noop = defineTool({
  name: "noop",
  description: "Do nothing",
  parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const,
  retry: "safe",
  run: async ({ n }) => ({ n }),
});

export interface AgentScene extends AsyncDisposable {
  readonly engine: Engine;
  /** For the measuring itself: statements here are not the engine's. */
  readonly aside: Database;
  readonly worker: Worker;
  /** A turn from its spawn to its end. Its agent does nothing else at the same time. */
  runTurn(agent: number, calls: number): Promise<void>;
}

/** What a turn shall do is in its instruction, so that one brain serves every variant. */
const think: BrainFunction = ({ stepNumber, messages }) => {
  const calls = Number(messages[0]?.content);
  if (stepNumber > 1 || calls === 0) return "done";
  return {
    toolCalls: Array.from({ length: calls }, (_, n) => ({ id: `call_${n}`, name: noop.name, arguments: { n } })),
  };
};

const agentName = (agent: number): string => `agent_${agent}`;

/** Tells when a turn's end is committed, without asking the database. */
const watchEnds = (engine: Engine) => {
  const open = new Map<string, () => void>();
  const early = new Set<string>();
  const over = (agentTurnId: string): void => {
    const tell = open.get(agentTurnId);
    if (tell === undefined) early.add(agentTurnId);
    else tell();
    open.delete(agentTurnId);
  };
  const turns: Engine["turns"] = {
    ...engine.turns,
    async finish(work, end) {
      const ended = await engine.turns.finish(work, end);
      over(work.agentTurnId);
      return ended;
    },
  };
  const until = (agentTurnId: string): Promise<void> =>
    early.delete(agentTurnId) ? Promise.resolve() : new Promise((resolve) => open.set(agentTurnId, resolve));
  return { watched: { ...engine, turns }, until };
};

export const openAgentScene = async (url: string, agents: number): Promise<AgentScene> => {
  const connection = { connectionString: url };
  const engine = await createEngine({ connection, maxConnections: CONNECTIONS });
  const aside = createDatabase({ connection, maxConnections: 1 });
  await engine.projects.createProject({ project_id: PROJECT, title: "Bench", bootstrap: false }, "sys.bench");
  const gateway = createEngineGateway({
    engine,
    projectId: PROJECT,
    actorId: `tool.${TARGET}`,
    holder: "bench",
    clock: systemClock,
    random: Math.random,
  });
  const serving = await serveTools([noop], {
    target: TARGET,
    gateway,
    concurrency: 256,
    handleSignals: false,
    log: silentLog,
  });
  const llm_config = { model: "function/bench", stream: false };
  await engine.profiles.upsertProfile(PROJECT, {
    name: PROFILE,
    worker_target: POOL,
    allowed_tools: [noop.name],
    system_prompt_template: "You do nothing, quickly.",
    llm_config,
  });
  for (let agent = 0; agent < agents; agent++)
    await engine.agents.upsertAgent(PROJECT, { agent_id: agentName(agent), profile_name: PROFILE });
  const { watched, until } = watchEnds(engine);
  const brain = createFunctionBrain(think);
  const worker = createWorker({
    engine: watched,
    brains: async () => brain,
    workerTargets: [POOL],
    concurrency: Math.max(agents, 16),
    // Longer than a run: a look that finds nothing should not show up as a statement.
    lookMs: 600_000,
  });
  await worker.start();
  return {
    engine,
    aside,
    worker,
    async runTurn(agent, calls) {
      const { agentTurnId } = await engine.turns.spawn({
        projectId: PROJECT,
        agentId: agentName(agent),
        sourceAgentId: "sys.bench",
        context: { instruction: String(calls) },
      });
      await until(agentTurnId);
    },
    async [Symbol.asyncDispose]() {
      await worker.stop({ drainMs: 0 });
      await serving.stop();
      await engine.close();
      await aside.close();
    },
  };
};
