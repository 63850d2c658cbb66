// Calls on a time axis: calls that ran at the same time are in different lanes. Pure.

export interface Laned {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly fromMs: number;
  /** Undefined while it goes on. */
  readonly toMs: number | undefined;
}

export interface LaneBar extends Laned {
  readonly lane: number;
  readonly left: number;
  readonly width: number;
}

export interface Lanes {
  readonly bars: readonly LaneBar[];
  readonly count: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** Narrower bars cannot be pointed at. */
const LEAST_WIDTH = 0.01;

export const planLanes = (items: readonly Laned[], nowMs: number): Lanes => {
  const sorted = items.toSorted((a, b) => a.fromMs - b.fromMs || (a.id < b.id ? -1 : 1));
  const startMs = sorted[0]?.fromMs ?? nowMs;
  const ends = sorted.map(({ toMs, fromMs }) => Math.max(toMs ?? nowMs, fromMs));
  const endMs = Math.max(startMs + 1, ...ends);
  const whole = endMs - startMs;
  const freeAt: number[] = [];
  const bars = sorted.map((item, at) => {
    const end = ends[at] ?? item.fromMs;
    let lane = freeAt.findIndex((free) => free <= item.fromMs);
    if (lane === -1) lane = freeAt.length;
    // What is drawn wider than it is must not be covered by the next.
    freeAt[lane] = Math.max(end, item.fromMs + whole * LEAST_WIDTH);
    const left = Math.min((item.fromMs - startMs) / whole, 1 - LEAST_WIDTH);
    const width = Math.min(Math.max((end - item.fromMs) / whole, LEAST_WIDTH), 1 - left);
    return { ...item, lane, left, width };
  });
  return { bars, count: freeAt.length, startMs, endMs };
};
