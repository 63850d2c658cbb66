// A tool service whose tools are simulated: their whole effect is a line in the journal, written at the moment a real
// tool would act. It takes work from the queue (postgres) or from commands an external bus brought it.

import { createIds, type Engine, isAway, type LeasedCall, systemClock } from "@toolplane/engine";
import { buildResult, isToolplaneError, type JsonObject } from "@toolplane/protocol";
import { tryStandingResult } from "@toolplane/protocol/agents";
import { SERVED_TARGET } from "./crash-seed.ts";
import { insist } from "./insist.ts";
import type { Way } from "./item.ts";
import type { Journal } from "./journal.ts";

export interface ServiceOptions {
  readonly engine: Engine;
  readonly journal: Journal;
  /** Tells processes apart. */
  readonly name: string;
  /** Calls run at once. */
  readonly slots: number;
  /** How long a tool takes before and after its effect, at most; a process killed meanwhile holds the call. */
  readonly workMs: number;
}

export interface CommandRef {
  readonly projectId: string;
  readonly toolCallId: string;
  readonly agentTurnId: string;
  readonly callCardId: string;
}

export interface Service {
  /** Takes queued calls of the projects until stopped. */
  serve(projects: readonly string[]): void;
  /** A command came over an external bus. */
  offer(command: CommandRef): void;
  stop(): Promise<void>;
}

const CLAIM_WAIT_MS = 1_000;
const BEAT_EVERY_MS = 100;
const PAUSE_MS = 25;

/** The engine's answers to a holder that was replaced or came too late: it only stops. */
const OVER: ReadonlySet<string> = new Set(["lease_lost", "already_settled", "not_found"]);

const wayOf = (call: LeasedCall): Way =>
  (JSON.parse(call.cardBody) as { content: { arguments: { way: Way } } }).content.arguments.way;

export const startService = ({ engine, journal, name, slots, workMs }: ServiceOptions): Service => {
  const ids = createIds();
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = new Set<Promise<void>>();
  const released = new Set(journal.lines().flatMap((line) => (line.what === "released" ? [line.call] : [])));
  const loops: Promise<void>[] = [];
  let freed = new AbortController();

  /** The end of an id is random: calls taken together end at different times. */
  const work = (toolCallId: string): Promise<void> =>
    workMs === 0
      ? Promise.resolve()
      : systemClock.sleep(Number.parseInt(toolCallId.slice(-6), 16) % (workMs + 1), signal);

  const settle = async (call: LeasedCall): Promise<void> => {
    const { projectId, toolCallId, actorId } = call.facts;
    const outcome = { given: { status: "success", result: { attempt: call.attempt } } };
    const request = { projectId, toolCallId, actorId, leaseId: call.lease.id, outcome };
    const settled = await insist(() => engine.calls.settle(request), signal);
    if (settled === undefined) return;
    journal.write({ what: "reported", call: toolCallId, card: settled.toolResultCardId ?? "", status: settled.status });
  };

  const reportCard = async (call: LeasedCall): Promise<void> => {
    const { facts, lease } = call;
    const { projectId, toolCallId, actorId, agentTurnId } = facts;
    const { card, payload } = buildResult(
      {
        cardId: ids.uuid(),
        createdAt: new Date(systemClock.now()).toISOString(),
        projectId,
        agentTurnId,
        toolCallId,
        authorId: actorId,
        toolName: facts.toolName,
        afterExecution: facts.afterExecution,
        toolCallMetadata: { ...facts.lineage } as JsonObject,
      },
      { status: "success", result: { attempt: call.attempt } },
    );
    const put = () => engine.calls.putResultCard({ projectId, actorId, leaseId: lease.id, card }).then(() => payload);
    // A replaced holder may have written its card first: then that card is reported.
    const first = (refused: unknown): typeof payload => {
      const standing = tryStandingResult(refused, payload);
      if (standing === undefined) throw refused;
      return standing;
    };
    const written = await insist(() => put().catch(first), signal);
    if (written === undefined) return;
    const report = { projectId, toolCallId, actorId, leaseId: lease.id, payload: written };
    const settled = await insist(() => engine.calls.report(report), signal);
    if (settled === undefined) return;
    journal.write({ what: "reported", call: toolCallId, card: settled.toolResultCardId ?? "", status: settled.status });
  };

  const run = async (call: LeasedCall): Promise<void> => {
    const { projectId, toolCallId } = call.facts;
    const held = { projectId, toolCallId, leaseId: call.lease.id };
    const beat = () => insist(() => engine.calls.heartbeat(held), signal);
    const effect = async (): Promise<void> => {
      await work(toolCallId);
      journal.write({ what: "effect", call: toolCallId, attempt: call.attempt, by: call.lease.id });
      await work(toolCallId);
    };
    journal.write({ what: "taken", call: toolCallId, lease: call.lease.id, by: name });
    switch (wayOf(call)) {
      case "finish":
        await effect();
        return settle(call);
      case "beat":
        await beat();
        await effect();
        await beat();
        return settle(call);
      case "card":
        await effect();
        return reportCard(call);
      case "vanish":
        await effect();
        return call.attempt === 1 ? undefined : settle(call);
      case "shy": {
        if (!released.has(toolCallId)) {
          released.add(toolCallId);
          journal.write({ what: "released", call: toolCallId });
          await insist(() => engine.calls.release(held), signal);
          return;
        }
        await effect();
        return settle(call);
      }
      case "hang":
        await effect();
        while (!signal.aborted) {
          if ((await beat())?.cancel !== false) return;
          await systemClock.sleep(BEAT_EVERY_MS, signal);
        }
    }
  };

  const start = (call: LeasedCall): void => {
    const work = run(call)
      .catch((error: unknown) => {
        if (!isToolplaneError(error) || !OVER.has(error.code)) throw error;
      })
      .finally(() => {
        running.delete(work);
        freed.abort();
      });
    running.add(work);
  };

  const takeFrom = async (projectId: string): Promise<void> => {
    const standing = { room: () => Math.min(Math.max(slots - running.size, 0), 64) };
    while (!signal.aborted) {
      freed = new AbortController();
      const free = slots - running.size;
      if (free <= 0) {
        await systemClock.sleep(CLAIM_WAIT_MS, AbortSignal.any([signal, freed.signal]));
        continue;
      }
      const request = { projectId, target: SERVED_TARGET, holder: name, max: Math.min(free, 64), standing };
      try {
        for (const call of await engine.calls.claim(request, CLAIM_WAIT_MS, signal)) start(call);
      } catch (error) {
        if (!isAway(error)) throw error;
        await systemClock.sleep(PAUSE_MS, signal);
      }
    }
  };

  const takeOffered = async (command: CommandRef): Promise<void> => {
    try {
      start(await engine.calls.lease({ ...command, holder: name }));
    } catch (error) {
      // The database is away, or another service has it: the command was only a bell, and the row is offered again (I13).
      if (!isAway(error) && !(isToolplaneError(error) && OVER.has(error.code))) throw error;
    }
  };

  return {
    serve: (projects) => {
      loops.push(...projects.map(takeFrom));
    },
    offer: (command) => {
      if (signal.aborted) return;
      const taking = takeOffered(command).finally(() => running.delete(taking));
      running.add(taking);
    },
    async stop() {
      stopping.abort();
      await Promise.all(loops);
      while (running.size > 0) await Promise.all(running);
    },
  };
};
