import { getEventListeners } from "node:events";
import { afterEach, describe, expect, test, vi } from "vitest";
import { inTime, LATE, systemClock } from "./clock.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe("sleep", () => {
  test("resolves when the time is over", async () => {
    vi.useFakeTimers();
    let awake = false;
    const slept = systemClock.sleep(1_000).then(() => {
      awake = true;
    });
    await vi.advanceTimersByTimeAsync(999);
    expect(awake).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await slept;
    expect(awake).toBe(true);
  });

  test("resolves at once when the signal aborts, and leaves no timer behind", async () => {
    vi.useFakeTimers();
    const controller = new AbortController();
    const slept = systemClock.sleep(3_600_000, controller.signal);
    controller.abort();
    await slept;
    expect(vi.getTimerCount()).toBe(0);
  });

  test("resolves at once when the signal has aborted before", async () => {
    vi.useFakeTimers();
    await systemClock.sleep(3_600_000, AbortSignal.abort());
    expect(vi.getTimerCount()).toBe(0);
  });

  test("leaves no listener on a signal that outlives it", async () => {
    vi.useFakeTimers();
    const { signal } = new AbortController();
    for (let i = 0; i < 20; i++) {
      const slept = systemClock.sleep(1, signal);
      await vi.advanceTimersByTimeAsync(1);
      await slept;
    }
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

test("now is the time of day in milliseconds", () => {
  vi.useFakeTimers({ now: 1_234_567 });
  expect(systemClock.now()).toBe(1_234_567);
});

describe("inTime", () => {
  test("gives the outcome of work that ends first, and leaves no timer behind", async () => {
    vi.useFakeTimers();
    expect(await inTime(systemClock, 1_000, Promise.resolve("done"))).toBe("done");
    await expect(inTime(systemClock, 1_000, Promise.reject(new RangeError("broken")))).rejects.toThrow("broken");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("gives LATE when the time is over first; a later failure of the work is dropped", async () => {
    vi.useFakeTimers();
    const work = Promise.withResolvers<string>();
    const waited = inTime(systemClock, 1_000, work.promise);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await waited).toBe(LATE);
    work.reject(new RangeError("too late to be heard"));
    await vi.advanceTimersByTimeAsync(1);
  });
});
