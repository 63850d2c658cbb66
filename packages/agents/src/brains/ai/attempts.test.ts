import { ToolplaneError } from "@toolplane/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createTestClock } from "../../../test/test-clock.ts";
import type { BrainPiece } from "../brain.ts";
import { planDelay, withAttempts } from "./attempts.ts";
import { retryAfterMs } from "./model-failure.ts";
import { createPieceScrubber } from "./piece-scrubber.ts";
import { watchSilence } from "./silence.ts";

test.each([
  [1, { retry: true }, 2000],
  [2, { retry: true }, 4000],
  [3, { retry: true }, undefined],
  [1, { retry: false }, undefined],
  [1, { retry: true, retryAfterMs: 9000 }, 9000],
  [1, { retry: true, retryAfterMs: 100 }, 2000],
  [1, { retry: true, retryAfterMs: 61_000 }, undefined],
])("[UTP-10.2-11] after attempt %i, %j: %s", (attempt, failure, delay) => {
  expect(planDelay(attempt, failure)).toBe(delay);
});

test("[ARCH-9-A6] a stop while it waits for the next attempt is a stop", async () => {
  const clock = createTestClock(() => true);
  const stop = new AbortController();
  const failure = { error: new ToolplaneError("rate_limited", "x"), retry: true };
  const work = withAttempts({ clock, signal: stop.signal, onRetry: () => stop.abort() }, async () => ({ failure }));
  await expect(work).rejects.toMatchObject({ code: "canceled" });
});

test.each([
  [{ "retry-after": "2" }, 2000],
  [{ "retry-after-ms": "150", "retry-after": "2" }, 150],
  [{ "retry-after": "Thu, 01 Jan 1970 00:00:10 GMT" }, 7000],
  [{ "retry-after": "Thu, 01 Jan 1970 00:00:01 GMT" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "-1" }, undefined],
  [{}, undefined],
  [undefined, undefined],
])("[ARCH-9-A5] %j asks for %s ms", (headers, ms) => {
  expect(retryAfterMs(headers as Record<string, string> | undefined, 3000)).toBe(ms);
});

test("[ARCH-9-A7] silence is counted from the last sign of life", async () => {
  let now = 0;
  const wakes: (() => void)[] = [];
  const asked: number[] = [];
  const clock = {
    now: () => now,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        asked.push(ms);
        wakes.push(() => {
          now += ms;
          resolve();
        });
        signal?.addEventListener("abort", () => resolve(), { once: true });
      }),
  };
  const watch = watchSilence(clock, 100);
  now = 60;
  watch.alive();
  now = 0;
  wakes.shift()?.();
  await expect.poll(() => asked).toEqual([100, 60]);
  expect(watch.signal.aborted).toBe(false);
  wakes.shift()?.();
  await expect.poll(() => watch.signal.aborted).toBe(true);

  // Set back by an hour: it counts again from there.
  const back = watchSilence(clock, 100);
  now -= 3_600_000;
  wakes.splice(0).at(-1)?.();
  await expect.poll(() => asked.slice(2)).toEqual([100, 100]);
  wakes.shift()?.();
  await expect.poll(() => back.signal.aborted).toBe(true);

  const ended = watchSilence(clock, 100);
  ended.end();
  await expect.poll(() => ended.signal.aborted).toBe(false);
});

test("[SEC-7-B1] however an answer is cut, the key is not shown and everything else is", () => {
  const key = "abab-key";
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("ab", "abab", "-key", key, "x", "-", "a"), { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 30 }),
      (words, cuts) => {
        const whole = words.join("");
        const shown: BrainPiece[] = [];
        const scrubber = createPieceScrubber(key, (piece) => shown.push(piece));
        let at = 0;
        for (const cut of [...cuts, whole.length]) {
          if (at < whole.length) scrubber.push({ kind: "content", text: whole.slice(at, at + cut) });
          at += cut;
        }
        scrubber.flush();
        expect(shown.map(({ text }) => text).join("")).toBe(whole.replaceAll(key, "[redacted]"));
      },
    ),
  );
});
