// Holding work: heartbeats for many claims at once, giving one back, and finding agents with something to do.

import { type CGContext, createContext, HEADERS } from "@toolplane/protocol";
import { wakeupHeaders } from "../outbox/wakeup-headers.ts";
import type { RungAgent } from "./agent-bells.ts";
import type { TurnDeps } from "./held-heads.ts";
import type { AgentKey, Work } from "./turn.ts";
import { bindExtend, EXTEND_CLAIMS, READ_DUE_AGENTS, RELEASE_AND_PUBLISH, RELEASE_CLAIM } from "./work-claims.sql.ts";

export interface WorkClaims {
  heartbeat(work: readonly Work[]): Promise<readonly Work[]>;
  /** False when it was not held any more. */
  release(work: Work): Promise<boolean>;
  due(workerTargets: readonly string[], limit: number): Promise<readonly AgentKey[]>;
}

// Ten thousand claims are forty statements, not one that takes a second.
const MAX_BEATS = 256;
const MAX_DUE = 1_000;

const contextOf = (work: Work): CGContext =>
  createContext({
    projectId: work.projectId,
    agentId: work.agentId,
    channelId: work.channelId,
    agentTurnId: work.agentTurnId,
    turnEpoch: work.turnEpoch,
    traceId: work.traceId,
    headers: {
      [HEADERS.traceparent]: work.traceparent,
      ...(work.tracestate === undefined ? {} : { [HEADERS.tracestate]: work.tracestate }),
      ...(work.parentTraceparent === undefined ? {} : { [HEADERS.parentTraceparent]: work.parentTraceparent }),
    },
  });

export const createWorkClaims = (deps: TurnDeps): WorkClaims => {
  const beat = async (work: readonly Work[]): Promise<readonly Work[]> => {
    const rows = await deps.db.query<{ ord: number }>(EXTEND_CLAIMS, bindExtend(work, deps.claimSeconds));
    const alive = new Set(rows.map(({ ord }) => ord));
    return work.filter((_, index) => !alive.has(index + 1));
  };

  return {
    async heartbeat(work) {
      const gone: Work[] = [];
      for (let start = 0; start < work.length; start += MAX_BEATS)
        gone.push(...(await beat(work.slice(start, start + MAX_BEATS))));
      return gone;
    },
    async release(work) {
      const key = [work.projectId, work.inboxId, work.claimId];
      if (!deps.external) {
        const rung = await deps.db.query<RungAgent>(RELEASE_CLAIM, key);
        deps.bells.ring(rung);
        return rung.length > 0;
      }
      const headers = wakeupHeaders(contextOf(work), { ids: deps.ids, nowMs: deps.clock.now() });
      const rows = await deps.db.query(RELEASE_AND_PUBLISH, [...key, headers, deps.protocolVersion]);
      if (rows.length > 0) deps.doorbell.ring("messages");
      return rows.length > 0;
    },
    async due(workerTargets, limit) {
      if (workerTargets.length === 0 || limit < 1) return [];
      const rows = await deps.db.query<{ project_id: string; agent_id: string }>(READ_DUE_AGENTS, [
        [...workerTargets],
        Math.min(Math.trunc(limit), MAX_DUE),
      ]);
      return rows.map((row) => ({ projectId: row.project_id, agentId: row.agent_id }));
    },
  };
};
