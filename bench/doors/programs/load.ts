// Calls at a fixed number in flight, for so many seconds or so many calls: how many, in what time, and how long each took
// from asking to the result. Every lane ends its last call, so the load has drained when this returns.

export interface LoadOrder {
  readonly inFlight: number;
  readonly seconds: number;
  /** Instead of the time: this many calls of each lane. */
  readonly callsPerLane?: number | undefined;
}

export interface LoadResult {
  readonly calls: number;
  readonly tookMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const at = (sorted: Float64Array, share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;

export const runLoad = async (
  call: () => Promise<void>,
  { inFlight, seconds, callsPerLane }: LoadOrder,
): Promise<LoadResult> => {
  const times: number[] = [];
  const start = performance.now();
  const end = start + seconds * 1000;
  const goesOn = (made: number): boolean =>
    callsPerLane === undefined ? performance.now() < end : made < callsPerLane;
  const lane = async (): Promise<void> => {
    for (let made = 0; goesOn(made); made++) {
      const asked = performance.now();
      await call();
      times.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const tookMs = performance.now() - start;
  const sorted = Float64Array.from(times).sort();
  return { calls: times.length, tookMs, p50Ms: at(sorted, 0.5), p99Ms: at(sorted, 0.99) };
};
