// A project with a boss who may delegate to workers, its project manager behind the real runner, and a hand that does
// the workers' work: steps are taken when a test says so, and no clock decides anything.

import { createPmo, PMO_SERVICE, type Pmo, type PmoOptions } from "@toolplane/agents";
import {
  type Engine,
  type EngineOptions,
  type LeasedCall,
  stepIdOf,
  type TurnFinish,
  type TurnView,
  type Work,
} from "@toolplane/engine";
import type { TurnEnd } from "@toolplane/engine/internal";
import { type JsonObject, ToolplaneError } from "@toolplane/protocol";
import { createRunner, type RunReport, silentLog, systemClock } from "@toolplane/sdk";
import { createEngineGateway } from "@toolplane/server/internal";
import { startTestEngine, type TestEngine } from "@toolplane/testkit";

export const PROJECT = "factory";
export const BOSS = "boss";

export const WORKER = { target_strategy: "new", target_ref: "Worker", instruction: "count the words" } as const;

/** A step the boss has taken: the call it waits for. */
export interface AskedCall {
  readonly toolCallId: string;
  readonly agentTurnId: string;
}

export interface CallResult {
  readonly status: string;
  readonly author: string | undefined;
  readonly result: JsonObject;
  readonly error: JsonObject | null;
}

export interface PmoWorld extends AsyncDisposable {
  readonly test: TestEngine;
  readonly engine: Engine;
  readonly pmo: Pmo;
  /** A turn of an agent that asks for one tool and is suspended. */
  ask(toolName: string, args: JsonObject, agentId?: string): Promise<AskedCall>;
  /** Leases what waits for the project manager. */
  claim(engine?: Engine): Promise<readonly LeasedCall[]>;
  /** Runs a leased call through the runner. */
  run(leased: LeasedCall, engine?: Engine): Promise<RunReport>;
  /** Everything that waits for the project manager is run. */
  serve(engine?: Engine): Promise<readonly RunReport[]>;
  /** `ask`, `serve` and the result. */
  call(toolName: string, args: JsonObject, agentId?: string): Promise<CallResult>;
  resultOf(toolCallId: string): Promise<CallResult>;
  turn(agentTurnId: string): Promise<TurnView>;
  children(agentTurnId: string): Promise<readonly TurnView[]>;
  takeWork(agentId: string): Promise<Work>;
  finish(agentId: string, end?: Partial<TurnFinish>): Promise<TurnEnd>;
  /** Suspends a turn of an agent with a tool that nobody serves. */
  suspend(agentId: string): Promise<string>;
}

const POLICY = { target_profiles: ["Worker", "Boss"] };

const seed = async ({ projects, profiles, agents, tools }: Engine): Promise<void> => {
  await projects.createProject({ project_id: PROJECT, title: "Factory" }, "sys.test");
  await profiles.upsertProfile(PROJECT, {
    name: "Boss",
    worker_target: "office",
    delegation_policy: POLICY,
    allowed_tools: ["fork_join", "delegate_async", "launch_principal", "ask_expert", "provision_agent", "slow"],
  });
  await profiles.upsertProfile(PROJECT, { name: "Worker", worker_target: "floor", allowed_tools: ["slow"] });
  await profiles.upsertProfile(PROJECT, { name: "Chef", worker_target: "kitchen" });
  await agents.upsertAgent(PROJECT, { agent_id: BOSS, profile_name: "Boss" });
  await tools.upsertTool(PROJECT, {
    tool_name: "slow",
    description: "slow, for tests",
    target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.slow.slow",
    after_execution: "suspend",
    parameters: { type: "object", properties: {} },
    options: { retry: "safe" },
  });
};

const need = <T>(value: T | undefined, what: string): T => {
  if (value === undefined) throw new ToolplaneError("internal_error", `${what} was expected`);
  return value;
};

export interface PmoWorldOptions extends Partial<EngineOptions> {
  readonly pmo?: Partial<Omit<PmoOptions, "engine">>;
  /** Tasks one fork_join may have. */
  readonly forkJoinTasks?: number;
}

export const startPmoWorld = async ({
  pmo: pmoOptions,
  forkJoinTasks,
  ...options
}: PmoWorldOptions = {}): Promise<PmoWorld> => {
  const test = await startTestEngine({ tools: [], ...options });
  const { engine } = test;
  await seed(engine);
  if (forkJoinTasks !== undefined)
    await engine.projects.patchProject(PROJECT, { limits: { fork_join_tasks: forkJoinTasks } });
  const pmo = createPmo({ engine, ...pmoOptions });

  const takeWork: PmoWorld["takeWork"] = async (agentId) => {
    const advanced = await engine.turns.advance({ projectId: PROJECT, agentId, workerId: "hand", takeWork: true });
    return need(advanced.work, `work for ${agentId}`);
  };

  const commit = async (work: Work, toolName: string, args: JsonObject): Promise<AskedCall> => {
    const stepId = stepIdOf(work.agentTurnId, work.stepCount + 1);
    await engine.turns.beginStep(work, stepId);
    const entries = [{ call: { toolName, arguments: args } }];
    const { calls } = await engine.turns.commitStep(work, { stepId, entries });
    const call = need(calls[0], "a call");
    if (call.refusal !== undefined) throw call.refusal;
    return { toolCallId: call.toolCallId, agentTurnId: work.agentTurnId };
  };

  const ask: PmoWorld["ask"] = async (toolName, args, agentId = BOSS) => {
    const context = { instruction: `use ${toolName}` };
    await engine.turns.spawn({ projectId: PROJECT, agentId, sourceAgentId: "sys.test", context });
    return commit(await takeWork(agentId), toolName, args);
  };

  const claim: PmoWorld["claim"] = (by = engine) =>
    by.calls.claim({ projectId: PROJECT, target: PMO_SERVICE.target, holder: "pmo-1", max: 16 });

  const run: PmoWorld["run"] = async (leased, by = engine) => {
    const gateway = createEngineGateway({
      engine: by,
      projectId: PROJECT,
      actorId: PMO_SERVICE.actor,
      holder: "pmo-1",
      clock: systemClock,
      random: Math.random,
    });
    const { executor } = by === engine ? pmo : createPmo({ engine: by, ...pmoOptions });
    const runner = createRunner({ gateway, executor, ...PMO_SERVICE, log: silentLog });
    return runner.handle({
      ...leased.command,
      lease: { id: leased.lease.id, expiresAt: leased.lease.expiresAt.getTime() },
      runDeadline: leased.runDeadline.getTime(),
      card: JSON.parse(leased.cardBody) as unknown,
    });
  };

  const serve: PmoWorld["serve"] = async (by = engine) => {
    const reports: RunReport[] = [];
    for (const leased of await claim(by)) reports.push(await run(leased, by));
    await by.batches.drain();
    return reports;
  };

  const resultOf: PmoWorld["resultOf"] = async (toolCallId) => {
    const view = await engine.calls.get({ projectId: PROJECT, toolCallId });
    const [card] = await engine.cards.getCards(PROJECT, [view.resultCardId]);
    const content = (card?.content ?? {}) as { readonly result?: JsonObject; readonly error?: JsonObject | null };
    return {
      status: view.status,
      author: card?.author_id,
      result: content.result ?? {},
      error: content.error ?? null,
    };
  };

  return {
    test,
    engine,
    pmo,
    ask,
    claim,
    run,
    serve,
    resultOf,
    takeWork,
    async call(toolName, args, agentId) {
      const { toolCallId } = await ask(toolName, args, agentId);
      await serve();
      return resultOf(toolCallId);
    },
    async turn(agentTurnId) {
      return need(await engine.turns.get({ projectId: PROJECT, agentTurnId }), "the turn");
    },
    async children(agentTurnId) {
      const { items } = await engine.turns.list(PROJECT, { parentAgentTurnId: agentTurnId, limit: 500 });
      return [...items].sort((a, b) => (a.agentTurnId < b.agentTurnId ? -1 : 1));
    },
    async finish(agentId, end = {}) {
      const work = await takeWork(agentId);
      return engine.turns.finish(work, { status: "success", deliverable: `done by ${agentId}`, ...end });
    },
    async suspend(agentId) {
      return (await commit(await takeWork(agentId), "slow", {})).toolCallId;
    },
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
};
