// SIGKILL at moments nobody chose: of engines under load, and of the database server under an engine under load.

import {
  createChance,
  killAtRandom,
  killServerAtRandom,
  NOTHING_FOUND,
  openCrashRun,
  queryTestDatabase,
  startMortalServer,
} from "@toolplane/testkit";
import { expect, test } from "vitest";
import { A_LOAD } from "./items.ts";
import { A_SEED } from "./seed.ts";

/** Tools that take a moment, so that a process has calls in its hands whenever it is killed. */
const BUSY = { workMs: 60, inFlight: 16 };

test("[CRASH-2] two engines under load, killed again and again: nothing lost, doubled or stuck", {
  timeout: 120_000,
}, async () => {
  await using run = await openCrashRun();
  const chance = createChance(A_SEED);
  const { kills } = await killAtRandom({
    run,
    chance,
    items: A_LOAD,
    engines: 2,
    kills: 8,
    growth: [500, 10_000],
    more: BUSY,
  });
  expect(kills).toBeGreaterThan(3);
  expect(await run.recover(A_LOAD)).toEqual(NOTHING_FOUND);
});

test("[CRASH-3] the database server, killed under load: what was acknowledged is there, and the engine goes on", {
  timeout: 180_000,
}, async () => {
  await using server = await startMortalServer();
  const settings = "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit";
  expect(await queryTestDatabase(server.url, settings)).toEqual([{ fsync: "on", commit: "on" }]);
  await using run = await openCrashRun({ databaseUrl: server.url });
  const { kills, exit } = await killServerAtRandom({
    run,
    chance: createChance(A_SEED),
    items: A_LOAD,
    kills: 3,
    growth: [2_000, 15_000],
    killServer: server.killAndRestart,
    more: BUSY,
  });
  expect(kills).toBe(3);
  expect(exit).toEqual({ code: 0, signal: null });
  expect(await run.recover(A_LOAD)).toEqual(NOTHING_FOUND);
});

test("[CRASH-12] an external bus that forgets everything with its process: commands are published again", {
  timeout: 120_000,
}, async () => {
  const items = { safe: 20, unsafe: 20, keyed: 10, card: 5, shy: 3, timeout: 3, step: 5, event: 5, command: 5 };
  await using run = await openCrashRun({ carrier: "external" });
  const chance = createChance(A_SEED);
  const { kills } = await killAtRandom({ run, chance, items, engines: 1, kills: 4, growth: [500, 6_000], more: BUSY });
  expect(kills).toBeGreaterThan(1);
  expect(await run.recover(items)).toEqual(NOTHING_FOUND);
});
