// The chaos at length: 5,000 calls and 200 turns on a plane of six processes over PostgreSQL and NATS, all of them killed at
// random; with NATS killed and wiped under them; on a cluster that loses a node and gets it back. The counts go to
// docs/records/nats-chaos.md.

import { NOTHING_FOUND, startNats, startNatsCluster, type TestNats } from "@toolplane/testkit";
import { beforeAll, expect, test } from "vitest";
import { A_SEED } from "../crash/seed.ts";
import { type Blow, type ChaosReport, runChaos } from "../scenarios/chaos/chaos.ts";
import { printChaos, printChaosHeader } from "./chaos-report.ts";

const LOAD = {
  calls: 5_000,
  turns: 200,
  kills: 60,
  seed: A_SEED,
  quietMs: 600_000,
  commandsCounted: "stored",
} as const;

const NOTHING_LEFT = { calls: 0, turns: 0, heads: 0, messages: 0 };

beforeAll(printChaosHeader);

/** One comparison, so that a failure shows everything that is wrong and under which name. */
const expectSound = (report: ChaosReport): void => {
  const { left, findings, commandsLeft, falls, exits } = report;
  const none = Object.fromEntries(Object.keys(exits).map((name) => [name, 0]));
  const sound = { left: NOTHING_LEFT, findings: NOTHING_FOUND, commandsLeft: 0, falls: none, exits: none };
  expect({ left, findings, commandsLeft, falls, exits }).toEqual(sound);
  expect(report.calls).toBeGreaterThanOrEqual(LOAD.calls);
  expect(Object.values(report.kills).reduce((sum, kills) => sum + kills)).toBeGreaterThan(LOAD.kills / 2);
};

test("5,000 calls and 200 turns, every process killed at random", async () => {
  await using nats = await startNats();
  const report = await runChaos({ ...LOAD, natsUrl: nats.url });
  printChaos("processes", report);
  expectSound(report);
});

test("the same, and NATS is killed, killed again, and wiped", async () => {
  await using nats = await startNats();
  const killed = async (): Promise<void> => {
    await nats.kill();
    await nats.restart();
  };
  const blows: Blow[] = [
    { at: 0.15, strike: killed },
    { at: 0.35, strike: () => nats.wipe() },
    { at: 0.55, strike: killed },
    { at: 0.75, strike: () => nats.wipe() },
  ];
  const report = await runChaos({ ...LOAD, kills: 40, natsUrl: nats.url, blows });
  printChaos("processes and NATS", report);
  expectSound(report);
});

test("the same on a cluster of three that loses its leader, gets it back, and loses another", async () => {
  await using cluster = await startNatsCluster();
  let down: TestNats | undefined;
  const lose = async (): Promise<void> => {
    down = await cluster.leaderOf("cg_cmd_v1r4");
    await down.kill();
  };
  const giveBack = async (): Promise<void> => {
    await down?.restart();
    await cluster.ready();
  };
  const blows: Blow[] = [
    { at: 0.2, strike: lose },
    { at: 0.4, strike: giveBack },
    { at: 0.6, strike: lose },
    { at: 0.8, strike: giveBack },
  ];
  const report = await runChaos({ ...LOAD, kills: 40, natsUrl: cluster.url, replicas: 3, blows });
  printChaos("processes and a cluster", report);
  expectSound(report);
});
