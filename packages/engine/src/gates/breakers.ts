// The breakers of tools and of targets, across processes. A call that no breaker concerns costs no statement here, and trials are read only
// for a breaker whose time is over. The breaker of a tool is part of its definition. `target_breaker` is a limit of the project and gives each target a breaker of its own.

import type { Breaker, ToolDefinition, ToolplaneError } from "@toolplane/protocol";
import type { ProjectLimits } from "@toolplane/protocol/registry";
import type { Ground } from "../ports/ground.ts";
import type { Definitions } from "../registry/definition-cache.ts";
import { targetIn } from "../registry/plan-tools.ts";
import type { Queryer } from "../sql/database.ts";
import {
  type BreakerRow,
  bindGates,
  bindRuns,
  bindWritten,
  breakerOf,
  type GateKey,
  LOCK_BREAKERS,
  MAKE_BREAKERS,
  READ_BREAKERS,
  READ_STARTS,
  type StartRow,
  WRITE_BREAKERS,
} from "./breakers.sql.ts";
import { targetGate } from "./gate.ts";
import { countRun, planBreaker, type RunCounts } from "./plan-breaker.ts";
import { nameOf, planRefusals } from "./plan-refusal.ts";
import { bindTrials, READ_TRIALS, type TrialsRow } from "./trials.sql.ts";

/** How a run of a limited call ended. */
export interface EndedRun {
  readonly projectId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly target: string;
  readonly status: string;
  readonly errorCode: string | null;
}

/** A call that is to be made, with the definition in force. */
export interface AskedRun {
  readonly projectId: string;
  readonly definition: ToolDefinition | undefined;
}

export interface Breakers {
  /** Why each of these new calls is refused; undefined for a call that is let in. */
  refusals(asked: readonly AskedRun[]): Promise<readonly (ToolplaneError | undefined)[]>;
  record(runs: readonly EndedRun[]): Promise<void>;
}

export interface BreakersDeps extends Pick<Ground, "db" | "doorbell" | "log"> {
  readonly definitions: Pick<Definitions, "resolve">;
}

interface Guarded extends GateKey {
  readonly breaker: Breaker;
}

/** What runs said about the tool or target of a gate, with their places in the list. */
interface Counted extends Guarded {
  readonly runs: readonly (RunCounts & { readonly place: number })[];
}

const sumOf = (runs: readonly RunCounts[]): RunCounts => ({
  successes: runs.reduce((sum, { successes }) => sum + successes, 0),
  failures: runs.reduce((sum, { failures }) => sum + failures, 0),
});

/** The breaker's time is over, and the end of a trial decides. */
const isHalfOpen = (row: BreakerRow): row is BreakerRow & { readonly open_until_ms: number } =>
  row.open_until_ms !== null && row.open_until_ms <= row.now_ms;

const keyOf = ({ projectId, gate }: GateKey): string => `${projectId} ${gate}`;

export const createBreakers = ({
  db,
  definitions,
  doorbell,
  log,
  limitsOf,
}: BreakersDeps & { readonly limitsOf: (projectId: string) => Promise<ProjectLimits> }): Breakers => {
  /** The breakers that a call of this tool passes. */
  const guardsOf = async (
    projectId: string,
    definition: ToolDefinition | undefined,
    targetOf: () => string,
  ): Promise<readonly Guarded[]> => {
    const own = definition?.options.breaker;
    const { target_breaker: ofTarget } = await limitsOf(projectId);
    const target = ofTarget == null ? "" : targetOf();
    return [
      ...(own === undefined || definition === undefined
        ? []
        : [{ projectId, gate: definition.tool_name, breaker: own }]),
      // The plane's own managers have no target.
      ...(ofTarget == null || target === "" ? [] : [{ projectId, gate: targetGate(target), breaker: ofTarget }]),
    ];
  };

  const count = async (runs: readonly EndedRun[]): Promise<readonly Counted[]> => {
    const found = new Map<string, Counted>();
    for (const [place, { projectId, toolName, target, status, errorCode }] of runs.entries()) {
      const counts = countRun(status, errorCode);
      if (counts.successes + counts.failures === 0) continue;
      // The definition in force counts, also for calls that were made before the breaker was set or taken away.
      const [known] = await definitions.resolve([{ projectId, toolName }]);
      for (const guard of await guardsOf(projectId, known?.definition, () => target)) {
        const before = found.get(keyOf(guard))?.runs ?? [];
        found.set(keyOf(guard), { ...guard, runs: [...before, { ...counts, place }] });
      }
    }
    return [...found.values()];
  };

  /** When the runs began, by their places; read only while a trial decides. */
  const readStarts = async (
    tx: Queryer,
    runs: readonly EndedRun[],
    rows: readonly BreakerRow[],
  ): Promise<ReadonlyMap<number, number>> => {
    if (!rows.some(isHalfOpen)) return new Map();
    const starts = await tx.query<StartRow>(READ_STARTS, bindRuns(runs));
    return new Map(starts.map(({ ord, started_at_ms: ms }) => [ord - 1, ms ?? 0]));
  };

  const tell = ({ projectId, gate, openUntilMs }: GateKey & { readonly openUntilMs: number | null }): void => {
    const of = nameOf(gate);
    if (openUntilMs === null) log.info("a breaker is closed again", { projectId, of });
    else log.warn("a breaker is open", { projectId, of, until: new Date(openUntilMs).toISOString() });
  };

  return {
    async refusals(asked) {
      const guarded: (Guarded & { readonly index: number; readonly target: string })[] = [];
      for (const [index, { projectId, definition }] of asked.entries()) {
        if (definition === undefined) continue;
        const targetOf = (): string => targetIn(definition, projectId);
        for (const guard of await guardsOf(projectId, definition, targetOf))
          guarded.push({ ...guard, index, target: targetOf() });
      }
      if (guarded.length === 0) return asked.map(() => undefined);
      const rows = await db.query<BreakerRow>(READ_BREAKERS, bindGates(guarded));
      const open = rows.flatMap((row) => {
        const one = guarded[row.ord - 1];
        return one === undefined || row.open_until_ms === null ? [] : [{ ...one, row }];
      });
      const tried = open.filter(({ row }) => isHalfOpen(row));
      const trials = tried.length === 0 ? [] : await db.query<TrialsRow>(READ_TRIALS, bindTrials(tried));
      const trialsOf = new Map(trials.map((row) => [tried[row.ord - 1], row]));
      return planRefusals(
        asked.length,
        open.map((one) => ({
          index: one.index,
          gate: one,
          untilMs: one.row.open_until_ms ?? 0,
          sinceMs: one.row.opened_at_ms,
          nowMs: one.row.now_ms,
          trials: trialsOf.get(one),
        })),
      );
    },
    async record(runs) {
      const counted = runs.length === 0 ? [] : await count(runs);
      if (counted.length === 0) return;
      const changed = await db.transaction(async (tx) => {
        await tx.query(MAKE_BREAKERS, bindGates(counted));
        const rows = await tx.query<BreakerRow>(LOCK_BREAKERS, bindGates(counted));
        const starts = await readStarts(tx, runs, rows);
        const written = rows.flatMap((row) => {
          const one = counted[row.ord - 1];
          if (one === undefined) return [];
          const before = breakerOf(row);
          const { projectId, gate, breaker } = one;
          // BK2: a run that began before the trial decides nothing.
          const isTrial = ({ place }: { readonly place: number }): boolean =>
            !isHalfOpen(row) || (starts.get(place) ?? 0) >= row.open_until_ms;
          const counts = sumOf(one.runs.filter(isTrial));
          return [{ projectId, gate, ...planBreaker(before, breaker, counts, row.now_ms), before }];
        });
        await tx.query(WRITE_BREAKERS, bindWritten(written));
        return written.filter(({ openUntilMs, before }) => openUntilMs !== before.openUntilMs);
      });
      for (const one of changed) tell(one);
      // What waits at the gate may pass, or must wait longer.
      if (changed.length > 0) doorbell.ring("sessions");
    },
  };
};
