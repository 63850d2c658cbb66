// The agents of a crash run: each is rung, thinks one step of three calls, and delivers when their results are there. All its
// state is in the turn's rows, so a worker that takes over a turn continues where the last one died.

import {
  type AgentKey,
  type Engine,
  type PoolServer,
  type StepEntry,
  stepIdOf,
  systemClock,
  type Work,
} from "@toolplane/engine";
import { isToolplaneError } from "@toolplane/protocol";
import { createThoughtCard } from "@toolplane/protocol/agents";
import { WORKER_TARGET } from "./crash-seed.ts";
import { insist } from "./insist.ts";
import { acceptedLine, CALL_SHAPES, STEP_KINDS } from "./item.ts";
import type { Journal } from "./journal.ts";

export interface AgentWorkerOptions {
  readonly engine: Engine;
  readonly journal: Journal;
  readonly name: string;
}

export interface AgentWorker extends PoolServer {
  /** A wakeup: says "look", and nothing else. */
  ring(agent: AgentKey): void;
  stop(): Promise<void>;
}

/** How late work is found whose bell was lost with a process, as with a real worker. */
const LOOK_MS = 1_000;
const MOST_AT_ONCE = 100;

const entriesOf = (work: Work, stepId: string, item: string): readonly StepEntry[] => [
  {
    card: createThoughtCard({
      cardId: `thought_${stepId}`,
      projectId: work.projectId,
      createdAt: new Date(systemClock.now()).toISOString(),
      authorId: work.agentId,
      agentTurnId: work.agentTurnId,
      text: item,
    }),
  },
  ...STEP_KINDS.map((kind) => ({
    call: { toolName: CALL_SHAPES[kind].toolName, arguments: { way: CALL_SHAPES[kind].way, item } },
  })),
];

const stepOf = (work: Work): string => stepIdOf(work.agentTurnId, work.stepCount + 1);

export const startAgentWorker = ({ engine, journal, name }: AgentWorkerOptions): AgentWorker => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = new Set<Promise<void>>();

  const accept = (item: string, toolCallIds: readonly string[]): void => {
    for (const [index, kind] of STEP_KINDS.entries()) {
      const call = toolCallIds[index];
      if (call !== undefined) journal.write(acceptedLine(`${item}.${index}`, kind, call));
    }
  };

  const act = async (work: Work, stepId: string, item: string): Promise<void> => {
    const step = await insist(
      () => engine.turns.commitStep(work, { stepId, entries: entriesOf(work, stepId, item) }),
      signal,
    );
    if (step !== undefined)
      accept(
        item,
        step.calls.map(({ toolCallId }) => toolCallId),
      );
  };

  const deliver = async (work: Work, stepId: string, item: string): Promise<void> => {
    const steps = await insist(() => engine.turns.steps(work), signal);
    const acted = steps?.find((step) => step.stepId === stepIdOf(work.agentTurnId, 1));
    // The worker that committed it may have died before it could write this line; if it did write it, the lines are the same.
    accept(item, acted?.toolCallIds ?? []);
    const end = await insist(() => engine.turns.finish(work, { stepId, status: "success", deliverable: item }), signal);
    if (end !== undefined) journal.write({ what: "finished", turn: work.agentTurnId, card: end.deliverableCardId });
  };

  const think = async (work: Work): Promise<void> => {
    const stepId = stepIdOf(work.agentTurnId, work.stepCount + 1);
    if (work.begunStepId !== stepId) await insist(() => engine.turns.beginStep(work, stepId), signal);
    await (work.stepCount === 0 ? act : deliver)(work, stepId, String(work.metadata.item));
  };

  const advance = async (agent: AgentKey): Promise<void> => {
    try {
      const request = { ...agent, workerId: name, takeWork: true, stepOf };
      const advanced = await insist(() => engine.turns.advance(request), signal);
      if (advanced?.work !== undefined) await think(advanced.work);
    } catch (error) {
      // Another worker has the turn now.
      if (!isToolplaneError(error) || error.code !== "lease_lost") throw error;
    }
  };

  const begin = (work: Promise<void>): void => {
    const busy = work.finally(() => running.delete(busy));
    running.add(busy);
  };

  const ring = (agent: AgentKey): void => {
    if (!signal.aborted) begin(advance(agent));
  };

  const take = async (work: Work): Promise<void> => {
    try {
      await think(work);
    } catch (error) {
      if (!isToolplaneError(error) || error.code !== "lease_lost") throw error;
    }
  };

  const lookOnce = async (): Promise<void> => {
    for (const agent of (await insist(() => engine.turns.due([WORKER_TARGET], MOST_AT_ONCE), signal)) ?? [])
      ring(agent);
  };

  const look = async (): Promise<void> => {
    while (!signal.aborted) {
      await lookOnce();
      await systemClock.sleep(LOOK_MS, signal);
    }
  };
  const looking = look();

  return {
    workerTargets: [WORKER_TARGET],
    rung(agent) {
      ring(agent);
      return true;
    },
    look: () => begin(lookOnce()),
    check: () => {},
    reserve: () =>
      signal.aborted ? undefined : { workerId: name, stepOf, take: (work) => begin(take(work)), drop: () => {} },
    ring,
    async stop() {
      stopping.abort();
      await looking;
      while (running.size > 0) await Promise.all(running);
    },
  };
};
