// What an idle stack costs, printed and not judged: it depends on the machine.

import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { makePlace } from "../up/data.ts";
import { readFootprint } from "../up/footprint.ts";
import { startUp } from "../up/up-process.ts";

// A measurement needs time to pass; nothing is judged by it.
const MEASURE_MS = 5_000;

test("what an idle stack costs is printed", async () => {
  await using place = await makePlace();
  await using up = startUp({ dataDir: place.dataDir, args: ["--demo"] });
  await up.ready();
  const pids = [up.pid, ...up.family().map(({ pid }) => pid)];
  const before = readFootprint(pids);
  await delay(MEASURE_MS);
  const after = readFootprint(pids);
  const cpu = ((after.cpuSeconds - before.cpuSeconds) / (MEASURE_MS / 1_000)) * 100;
  process.stderr.write(
    `idle: ${after.processes} processes, ${after.pssMb.toFixed(0)} MB (PSS; RSS summed ${after.rssMb.toFixed(0)} MB), ${cpu.toFixed(1)} % of a core\n`,
  );
  expect(pids.length).toBeGreaterThan(2);
});
