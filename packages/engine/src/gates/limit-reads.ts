// What the limits of a project do at this moment: for each, how many calls run and wait, and what holds the next one.

import type { Queryer } from "../sql/database.ts";
import type { PlaneShare } from "./admission.ts";
import { type GateBlock, type GateLimits, type GateState, PROJECT_GATE, targetOfGate } from "./gate.ts";
import { COUNT_WAITING, type GateRow, gateStateOf, READ_PROJECT_GATES, type WaitingCountRow } from "./gates.sql.ts";
import { planRoom } from "./plan-room.ts";

export interface LimitState {
  /** Undefined: the limit is the project's own, or a target's. */
  readonly toolName: string | undefined;
  /** Of the breaker of a target; undefined otherwise. */
  readonly target: string | undefined;
  readonly limits: GateLimits;
  /** Of a target: the trials. */
  readonly running: number;
  readonly waiting: number;
  /** What would hold a call back now; undefined when there is room. */
  readonly heldBy: GateBlock | undefined;
  /** When time alone lets the next call pass. */
  readonly nextAt: Date | undefined;
  /** The breaker is open since then. */
  readonly openedAt: Date | undefined;
}

export interface LimitReads {
  /** The project's own limit first, if it has one; then the breakers of its targets, then its limited tools; the first 500 of each. */
  list(projectId: string): Promise<readonly LimitState[]>;
  /** What the project has open of the plane's places, and what it may have now. */
  openCalls(projectId: string): Promise<PlaneShare>;
}

/** Beyond it a number means "at least". */
const MAX_COUNTED = 100_000;

const sumOf = (counts: readonly WaitingCountRow[]): number => counts.reduce((sum, { waiting }) => sum + waiting, 0);

/** Pure. */
const planLimitState = (state: GateState, waiting: number): LimitState => {
  const target = targetOfGate(state.gate);
  const { room, blockedBy, nextMs } = planRoom(state);
  const isHeld = room === 0 && blockedBy !== undefined;
  const isOpen = state.limits.breaker !== undefined && state.openUntilMs !== null;
  return {
    toolName: state.gate === PROJECT_GATE || target !== undefined ? undefined : state.gate,
    target,
    limits: state.limits,
    running: target === undefined ? state.running : state.trials,
    waiting,
    heldBy: isHeld ? blockedBy : undefined,
    nextAt: isHeld && nextMs !== undefined ? new Date(state.nowMs + nextMs) : undefined,
    openedAt: isOpen && state.openedAtMs !== null ? new Date(state.openedAtMs) : undefined,
  };
};

export const createLimitReads = (db: Queryer, openCalls: LimitReads["openCalls"]): LimitReads => ({
  openCalls,
  async list(projectId) {
    const gates = (await db.query<GateRow>(READ_PROJECT_GATES, [projectId])).map(gateStateOf);
    const limited = gates.filter(({ limits }) => Object.keys(limits).length > 0);
    if (limited.length === 0) return [];
    const counts = await db.query<WaitingCountRow>(COUNT_WAITING, [projectId, MAX_COUNTED]);
    const waitingAt = (gate: string): number => {
      const target = targetOfGate(gate);
      const here = counts.filter((count) => (target === undefined ? count.gate === gate : count.target === target));
      return sumOf(gate === PROJECT_GATE ? counts : here);
    };
    return limited
      .toSorted((a, b) => (a.gate < b.gate ? -1 : 1))
      .map((state) => planLimitState(state, waitingAt(state.gate)));
  },
});
