// How long to wait before the next try: longer each time, spread by chance so that a thousand services that lost the same
// server do not come back in the same millisecond.

import type { Random } from "../ports/ids.ts";

export interface BackoffShape {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** The first wait is short because most failures are a restart or a dropped connection. */
export const GATEWAY_BACKOFF: BackoffShape = { baseMs: 200, maxMs: 10_000 };

/** From here on the maximum is reached anyway. */
const MAX_DOUBLINGS = 20;

/** Between half and all of base * 2^(failures - 1), never above the maximum. */
export const planBackoff = (failures: number, shape: BackoffShape, random: Random): number => {
  const full = Math.min(shape.maxMs, shape.baseMs * 2 ** Math.min(Math.max(failures - 1, 0), MAX_DOUBLINGS));
  return Math.round(full / 2 + (full / 2) * random());
};
