// Calls at a fixed number in flight: how many a second, and how long each took from asking to the result.

export interface LevelResult {
  readonly inFlight: number;
  readonly calls: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

export const runLevel = async (inFlight: number, seconds: number, call: () => Promise<void>): Promise<LevelResult> => {
  const times: number[] = [];
  const start = performance.now();
  const end = start + seconds * 1000;
  const caller = async (): Promise<void> => {
    while (performance.now() < end) {
      const asked = performance.now();
      await call();
      times.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  const took = (performance.now() - start) / 1000;
  times.sort((a, b) => a - b);
  return { inFlight, calls: times.length, perSecond: times.length / took, p50: at(times, 0.5), p99: at(times, 0.99) };
};
