// The bells of agents: workers of this process are told by name, other processes by an empty ring.
//   BL1. The inbox rows are the queue (T1). A bell only says whose inbox to look at, so a lost bell costs time (I13).
//   BL2. When a worker of this process serves the pool and has room, only this process is rung; otherwise other processes are rung
//       too. The end of a turn from outside is rung everywhere.
//   BL3. A turn that begins while its pool has a free place here is written as work of that place: no bell, no second commit.
//   Where a bus beside the database carries wakeups, they are messages, and nothing here rings.

import type { Doorbell } from "../ports/doorbell.ts";
import type { AgentKey, Work } from "./turn.ts";

export interface RungAgent extends AgentKey {
  /** Its pool, where it is known. */
  readonly workerTarget?: string | undefined;
}

/** A place kept for work that is about to be written. One of `take` and `drop` is called. */
export interface Place {
  readonly workerId: string;
  /** The step that begins with the work; undefined when none does. */
  stepOf(work: Work): string | undefined;
  take(work: Work): void;
  drop(): void;
}

/** A worker that thinks for the agents of some pools. */
export interface PoolServer {
  readonly workerTargets: readonly string[];
  /** This agent may have something to do. `work`: its turn waits for a place, and nothing else. False: there is no room for it here now. */
  rung(agent: AgentKey, why?: "work"): boolean;
  /** Some agent may have something to do. */
  look(): void;
  /** Turns were ended: check whether the work in hand is still wanted. */
  check(): void;
  /** A place for work of this agent, if there is one. */
  reserve(agent: AgentKey): Place | undefined;
}

export interface AgentBells {
  /** After the commit. `work`: their turns wait for a place, and there is nothing to apply. */
  ring(agents: readonly RungAgent[], why?: "work"): void;
  /** After the commit: turns of these agents were ended from outside. */
  ended(agents: readonly RungAgent[]): void;
  reserve(agent: AgentKey & { readonly workerTarget: string | null }): Place | undefined;
  /** Returns the way to stop serving. */
  serve(server: PoolServer): () => void;
}

export const createAgentBells = (doorbell: Doorbell): AgentBells => {
  const servers = new Set<PoolServer>();

  const serves = (server: PoolServer, target: string | undefined): boolean =>
    target === undefined || server.workerTargets.includes(target);

  /** True when a worker here will look at it, and no other process has to. */
  const ringHere = ({ projectId, agentId, workerTarget }: RungAgent, why?: "work"): boolean => {
    let heard = false;
    for (const server of servers)
      if (serves(server, workerTarget)) heard = server.rung({ projectId, agentId }, why) || heard;
    return heard && workerTarget !== undefined;
  };

  return {
    ring(agents, why) {
      let elsewhere = false;
      for (const agent of agents) if (!ringHere(agent, why)) elsewhere = true;
      if (elsewhere) doorbell.ring("inbox");
    },
    ended(agents) {
      for (const agent of agents) ringHere(agent);
      if (agents.length > 0) doorbell.ring("stopped");
    },
    reserve({ workerTarget, projectId, agentId }) {
      if (workerTarget === null) return undefined;
      for (const server of servers) {
        const place = serves(server, workerTarget) ? server.reserve({ projectId, agentId }) : undefined;
        if (place !== undefined) return place;
      }
      return undefined;
    },
    serve(server) {
      servers.add(server);
      const stopLooking = doorbell.listen("inbox", (from) => {
        if (from === "elsewhere") server.look();
      });
      const stopChecking = doorbell.listen("stopped", (from) => {
        if (from === "elsewhere") server.check();
      });
      return () => {
        servers.delete(server);
        stopLooking();
        stopChecking();
      };
    },
  };
};

/** Where wakeups are messages. */
export const silentBells: AgentBells = {
  ring: () => {},
  ended: () => {},
  reserve: () => undefined,
  serve: () => () => {},
};
