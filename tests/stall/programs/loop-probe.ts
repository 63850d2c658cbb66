// Loaded into `toolplane up` before anything else (`--import`): writes down every pause of its event loop, with the time it
// began, how long it was, and how much of it the loop's own thread was running. A pause in which it did not run is the
// machine's: others had the processor.

import { appendFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** How often it looks, and what it writes down. */
const TICK_MS = 5;
const WORTH_A_LINE_MS = 10;

const file = process.env.TOOLPLANE_TEST_PAUSES;

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

if (file !== undefined && isMainThread && process.argv.includes("up")) {
  let last = performance.now();
  let lastCpu = cpuMs();
  const look = (): void => {
    const now = performance.now();
    const cpu = cpuMs();
    const ms = now - last - TICK_MS;
    if (ms >= WORTH_A_LINE_MS) {
      const at = performance.timeOrigin + last;
      appendFileSync(file, `${JSON.stringify({ at, ms: Math.round(ms), cpu: Math.round(cpu - lastCpu) })}\n`);
    }
    last = performance.now();
    lastCpu = cpuMs();
  };
  setInterval(look, TICK_MS).unref();
}
