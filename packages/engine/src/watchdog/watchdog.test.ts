import { expect, test } from "vitest";
import { systemClock } from "../ports/clock.ts";
import { silentLog } from "../ports/log.ts";
import { startWatchdog } from "./watchdog.ts";

test("a job that fails again and again is one line of the log, and one when it works again", async () => {
  const lines: unknown[] = [];
  const log = {
    ...silentLog,
    info: (...said: unknown[]) => lines.push(said),
    warn: (...said: unknown[]) => lines.push(said),
  };
  let runs = 0;
  const run = () => (++runs < 4 ? Promise.reject(new Error("away")) : Promise.resolve(false));
  const watchdog = startWatchdog({ jobs: [{ name: "expire", everyMs: 1, run }], clock: systemClock, log });
  await expect.poll(() => runs).toBeGreaterThan(4);
  await watchdog.stop();
  expect(lines).toEqual([
    ["a watchdog job failed; it is tried again", { job: "expire", error: "Error: away" }],
    ["a watchdog job works again", { job: "expire", failures: 3 }],
  ]);
});
