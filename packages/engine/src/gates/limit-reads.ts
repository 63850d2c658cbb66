// What the limits of a project do at this moment: for each, how many calls run and wait, and what holds the next one.

import type { ProjectLimits } from "@toolplane/protocol/registry";
import type { Queryer } from "../sql/database.ts";
import { COUNT_OPEN_OF_PROJECT, COUNT_QUEUED, type ProjectLimitsRow, READ_PROJECT_LIMITS } from "./admission.sql.ts";
import type { PlaneShare } from "./admission.ts";
import { type GateBlock, type GateLimits, type GateState, PROJECT_GATE, targetOfGate, toolOfGate } from "./gate.ts";
import { COUNT_WAITING, type GateRow, gateStateOf, READ_PROJECT_GATES, type WaitingCountRow } from "./gates.sql.ts";
import { planRoom, tellableMs } from "./plan-room.ts";

/** What holds the calls of a project: at its gate, before it (`rate`, `queue`), and at the gates of its targets. */
type OwnLimits = Pick<ProjectLimits, "concurrency" | "rate" | "queue" | "target_breaker">;

export interface LimitState {
  /** Undefined when the limit belongs to the project or to a target. */
  readonly toolName: string | undefined;
  /** The target, when the limit is the breaker of one. */
  readonly target: string | undefined;
  readonly limits: GateLimits | OwnLimits;
  /** The calls that run. For a target only its trials; for a project with `concurrency` the calls that hold a slot. */
  readonly running: number;
  /** How many of them are runs whose call has ended while its service runs it. */
  readonly lingering: number;
  /** The calls that wait; for a project those that count in its `queue`. */
  readonly waiting: number;
  /** What would hold a call back now; undefined when there is room. */
  readonly heldBy: GateBlock | undefined;
  /** When the next call may pass, if time alone decides that. */
  readonly nextAt: Date | undefined;
  /** Since when the breaker is open. */
  readonly openedAt: Date | undefined;
}

export interface LimitReads {
  /** The project's own limits first, if it has any; then the breakers of its targets, then its limited tools; the first 500 of each. */
  list(projectId: string): Promise<readonly LimitState[]>;
  /** What the project has open of the plane's places, and what it may have now. */
  openCalls(projectId: string): Promise<PlaneShare>;
}

/** Counting stops here; such a number means "at least". */
const MAX_COUNTED = 100_000;

const sumOf = (counts: readonly WaitingCountRow[]): number => counts.reduce((sum, { waiting }) => sum + waiting, 0);

/** Pure. */
const planLimitState = (state: GateState, waiting: number): LimitState => {
  const target = targetOfGate(state.gate);
  const room = planRoom(state);
  const nextMs = tellableMs(room);
  const isOpen = state.limits.breaker !== undefined && state.openUntilMs !== null;
  return {
    toolName: toolOfGate(state.gate),
    target,
    limits: state.limits,
    running: target === undefined ? state.running : state.trials,
    lingering: target === undefined ? state.lingersUntilMs.length : state.lingeringTrials,
    waiting,
    heldBy: room.room === 0 ? room.blockedBy : undefined,
    nextAt: nextMs === undefined ? undefined : new Date(state.nowMs + nextMs),
    openedAt: isOpen && state.openedAtMs !== null ? new Date(state.openedAtMs) : undefined,
  };
};

/** Pure. */
const planOwnLimits = ({ limits }: ProjectLimitsRow): OwnLimits => {
  const { concurrency, rate, queue, target_breaker } = limits;
  const own = Object.entries({ concurrency, rate, queue, target_breaker });
  return Object.fromEntries(own.filter(([, limit]) => limit != null));
};

const isLimited = (limits: object): boolean => Object.keys(limits).length > 0;

export const createLimitReads = (db: Queryer, openCalls: LimitReads["openCalls"]): LimitReads => {
  /** The project's gate has only `concurrency` and counts only calls that pass a gate, so the rest is read here. */
  const readOwn = async (state: GateState): Promise<readonly LimitState[]> => {
    const { projectId } = state;
    const [row] = await db.query<ProjectLimitsRow>(READ_PROJECT_LIMITS, [projectId]);
    const limits = row === undefined ? {} : planOwnLimits(row);
    if (!isLimited(limits)) return [];
    const [queue] = await db.query<{ queued: number }>(COUNT_QUEUED, [projectId, MAX_COUNTED]);
    const waiting = queue?.queued ?? 0;
    const own = { ...planLimitState(state, waiting), limits };
    if (limits.concurrency != null) return [own];
    const [all] = await db.query<{ open: number }>(COUNT_OPEN_OF_PROJECT, [projectId, MAX_COUNTED]);
    return [{ ...own, running: Math.max((all?.open ?? 0) - waiting, 0) }];
  };

  return {
    openCalls,
    async list(projectId) {
      const gates = (await db.query<GateRow>(READ_PROJECT_GATES, [projectId])).map(gateStateOf);
      const own = await Promise.all(gates.filter(({ gate }) => gate === PROJECT_GATE).map(readOwn));
      const limited = gates.filter(({ gate, limits }) => gate !== PROJECT_GATE && isLimited(limits));
      if (limited.length === 0) return own.flat();
      const counts = await db.query<WaitingCountRow>(COUNT_WAITING, [projectId, MAX_COUNTED]);
      const waitingAt = (gate: string): number => {
        const target = targetOfGate(gate);
        return sumOf(counts.filter((count) => (target === undefined ? count.gate === gate : count.target === target)));
      };
      const others = limited
        .toSorted((a, b) => (a.gate < b.gate ? -1 : 1))
        .map((state) => planLimitState(state, waitingAt(state.gate)));
      return [...own.flat(), ...others];
    },
  };
};
