import type { Clock, LogFields } from "@toolplane/engine";
import { silentLog, systemClock } from "@toolplane/engine";
import { expect, test, vi } from "vitest";
import { watchLoop } from "./loop-pauses.ts";

test("[STALL-5] the longest pause of the last minute is known, and a long one is logged", async () => {
  const source = { max: 40e6, reset: vi.fn(() => Object.assign(source, { max: 0 })) };
  const warned: (LogFields | undefined)[] = [];
  let tick: () => void = () => undefined;
  const clock: Clock = {
    ...systemClock,
    sleep: (_ms, signal) =>
      new Promise<never>((resolve) => {
        tick = () => resolve(undefined as never);
        signal?.addEventListener("abort", tick, { once: true });
      }),
  };
  const loop = watchLoop({ log: { ...silentLog, warn: (_text, fields) => void warned.push(fields) }, clock, source });
  const look = async (): Promise<void> => {
    const before = source.reset.mock.calls.length;
    tick();
    await vi.waitFor(() => expect(source.reset.mock.calls.length).toBeGreaterThan(before));
    await Promise.resolve();
  };
  expect(loop.longestMs()).toBe(30);
  await look();
  expect(warned).toEqual([]);
  source.max = 1_210e6;
  await look();
  expect(warned).toEqual([{ ms: 1_200 }]);
  expect(loop.longestMs()).toBe(1_200);
  for (let i = 0; i < 12; i++) await look();
  expect(loop.longestMs()).toBe(0);
  loop.stop();
});
