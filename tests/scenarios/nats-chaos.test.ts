// A short run of the chaos: every process of a plane over PostgreSQL and NATS is killed in the middle of its work, and NATS
// loses everything it holds. tests/long/nats-chaos.long.ts has the long ones.

import { NOTHING_FOUND, startNats } from "@toolplane/testkit";
import { expect, test, vi } from "vitest";
import { A_SEED } from "../crash/seed.ts";
import { runChaos } from "./chaos/chaos.ts";

vi.setConfig({ testTimeout: 180_000 });

test("[UP-9-9] processes are killed and NATS is wiped in the middle of calls and turns: nothing is lost, doubled or stuck", async () => {
  await using nats = await startNats();
  const report = await runChaos({
    natsUrl: nats.url,
    seed: A_SEED,
    calls: 160,
    turns: 10,
    kills: 4,
    blows: [{ at: 0.4, strike: () => nats.wipe() }],
    quietMs: 60_000,
    commandsCounted: "open",
  });
  expect(report.left).toEqual({ calls: 0, turns: 0, heads: 0, messages: 0 });
  expect(report.findings).toEqual(NOTHING_FOUND);
  expect(report.commandsLeft).toBe(0);
  expect(Object.values(report.falls).reduce((sum, falls) => sum + falls)).toBe(0);
  expect(Object.values(report.exits)).toEqual(Object.values(report.exits).map(() => 0));
  expect(report.calls).toBeGreaterThanOrEqual(160);
});
