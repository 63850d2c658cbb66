import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { tryReadCpuTime } from "./cpu-time.ts";

test("who works has had more processor time afterwards; who is not there has none", async () => {
  expect(tryReadCpuTime(2 ** 30)).toBeUndefined();
  if (!existsSync("/proc/self/stat")) return;
  const before = tryReadCpuTime(process.pid) ?? Number.NaN;
  await expect
    .poll(
      () => {
        for (let i = 0; i < 1e6; i++) Math.sqrt(i);
        return tryReadCpuTime(process.pid);
      },
      { interval: 1 },
    )
    .toBeGreaterThan(before);
});
