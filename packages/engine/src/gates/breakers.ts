// The breakers of tools, across processes. Only calls of tools that have one cost a statement here.

import { type Breaker, ToolplaneError } from "@toolplane/protocol";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Log } from "../ports/log.ts";
import type { Definitions } from "../registry/definition-cache.ts";
import type { Database } from "../sql/database.ts";
import {
  type BreakerRow,
  bindTools,
  bindWritten,
  breakerOf,
  LOCK_BREAKERS,
  MAKE_BREAKERS,
  READ_BREAKERS,
  type ToolKey,
  WRITE_BREAKERS,
} from "./breakers.sql.ts";
import { isBrokenRun, planBreaker, type RunCounts } from "./plan-breaker.ts";

/** How a run of a limited tool ended. */
export interface EndedRun extends ToolKey {
  readonly toolVersion: number;
  readonly status: string;
  readonly errorCode: string | null;
}

export interface Breakers {
  /** Why a new call of each of these tools is refused; undefined: it is not. */
  refusals(
    tools: readonly (ToolKey & { readonly breaker: Breaker | undefined })[],
  ): Promise<readonly (ToolplaneError | undefined)[]>;
  record(runs: readonly EndedRun[]): Promise<void>;
}

export interface BreakersDeps {
  readonly db: Database;
  readonly definitions: Pick<Definitions, "resolveVersion">;
  readonly doorbell: Doorbell;
  readonly log: Log;
}

const keyOf = ({ projectId, toolName }: ToolKey): string => `${projectId} ${toolName}`;

const refusal = ({ toolName }: ToolKey, { open_until_ms: until, opened_at_ms: since, now_ms: now }: BreakerRow) => {
  if (until === null || until <= now) return undefined;
  const at = (ms: number | null): string => new Date(ms ?? now).toISOString();
  return new ToolplaneError(
    "breaker_open",
    `${toolName} failed too often: its breaker is open since ${at(since)} and lets a call through at ${at(until)}`,
    { detail: { since: at(since), closes_at: at(until), retry_after_seconds: Math.ceil((until - now) / 1_000) } },
  );
};

interface Counted extends ToolKey {
  readonly breaker: Breaker;
  readonly counts: RunCounts;
}

export const createBreakers = ({ db, definitions, doorbell, log }: BreakersDeps): Breakers => {
  const count = async (runs: readonly EndedRun[]): Promise<readonly Counted[]> => {
    const found = new Map<string, Counted>();
    for (const run of runs) {
      const { projectId, toolName, toolVersion, status, errorCode } = run;
      const known = await definitions.resolveVersion(projectId, toolName, toolVersion);
      const breaker = known?.definition.options.breaker;
      // A call that was canceled says nothing about its tool.
      if (breaker === undefined || status === "canceled") continue;
      const before = found.get(keyOf(run))?.counts ?? { successes: 0, failures: 0 };
      const isBroken = isBrokenRun(status, errorCode);
      const counts = {
        successes: before.successes + (isBroken ? 0 : 1),
        failures: before.failures + (isBroken ? 1 : 0),
      };
      found.set(keyOf(run), { projectId, toolName, breaker, counts });
    }
    return [...found.values()];
  };

  return {
    async refusals(tools) {
      const guarded = tools.flatMap((tool, index) => (tool.breaker === undefined ? [] : [{ tool, index }]));
      const answers: (ToolplaneError | undefined)[] = tools.map(() => undefined);
      if (guarded.length === 0) return answers;
      const rows = await db.query<BreakerRow>(READ_BREAKERS, bindTools(guarded.map(({ tool }) => tool)));
      for (const row of rows) {
        const one = guarded[row.ord - 1];
        if (one !== undefined) answers[one.index] = refusal(one.tool, row);
      }
      return answers;
    },
    async record(runs) {
      const counted = runs.length === 0 ? [] : await count(runs);
      if (counted.length === 0) return;
      const changed = await db.transaction(async (tx) => {
        await tx.query(MAKE_BREAKERS, bindTools(counted));
        const rows = await tx.query<BreakerRow>(LOCK_BREAKERS, bindTools(counted));
        const written = rows.flatMap((row) => {
          const one = counted[row.ord - 1];
          if (one === undefined) return [];
          const before = breakerOf(row);
          const { projectId, toolName, breaker, counts } = one;
          return [{ projectId, toolName, ...planBreaker(before, breaker, counts, row.now_ms), before }];
        });
        await tx.query(WRITE_BREAKERS, bindWritten(written));
        return written.filter(({ openUntilMs, before }) => openUntilMs !== before.openUntilMs);
      });
      for (const { projectId, toolName, openUntilMs } of changed)
        if (openUntilMs === null) log.info("the breaker of a tool is closed again", { projectId, toolName });
        else
          log.warn("the breaker of a tool is open", {
            projectId,
            toolName,
            until: new Date(openUntilMs).toISOString(),
          });
      // What waits at the gate may pass, or must wait longer.
      if (changed.length > 0) doorbell.ring("sessions");
    },
  };
};
