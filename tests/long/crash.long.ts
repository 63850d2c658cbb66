// The crash suite at length: 2,000 calls of each kind with an engine that is killed again and again, 10,000 with two
// engines, and 2,000 under a database server that is killed. The counts go to docs/records/engine-crash.md.

import {
  createChance,
  type ItemCounts,
  killAtRandom,
  killServerAtRandom,
  NOTHING_FOUND,
  openCrashRun,
  readTables,
  startMortalServer,
} from "@toolplane/testkit";
import { beforeAll, expect, test } from "vitest";
import { A_SEED } from "../crash/seed.ts";
import { printHeader, printRun } from "./report.ts";

const PATIENCE_MS = 300_000;
const CALLS = 2_000;
/** Three calls each. */
const STEPS = Math.ceil(CALLS / 3);

const MORE = { inFlight: 32, slots: 128, workMs: 60 };

const KINDS: [string, ItemCounts][] = [
  ["safe", { safe: CALLS }],
  ["unsafe", { unsafe: CALLS }],
  ["keyed", { keyed: CALLS }],
  ["cancel", { cancel: CALLS }],
  ["timeout", { timeout: CALLS }],
  ["two-step", { card: CALLS }],
  ["agent step", { step: STEPS }],
];

/** Something of everything, ten thousand calls in all. */
const MIXTURE: ItemCounts = {
  safe: 2_300,
  unsafe: 2_300,
  keyed: 1_500,
  card: 900,
  beat: 300,
  shy: 300,
  vanish: 50,
  cancel: 400,
  timeout: 300,
  silent: 20,
  gated: 50,
  attic: 100,
  step: 500,
  event: 500,
  command: 500,
};

beforeAll(printHeader);

test.each(KINDS)("2,000 calls: %s", async (name, items) => {
  const started = performance.now();
  await using run = await openCrashRun();
  const chance = createChance(A_SEED);
  const { kills } = await killAtRandom({
    run,
    chance,
    items,
    engines: 1,
    kills: 12,
    growth: [10_000, 80_000],
    more: MORE,
  });
  const findings = await run.recover(items, PATIENCE_MS);
  const tables = await readTables(run.databaseUrl);
  printRun(run, tables, findings, { name, kills, seconds: (performance.now() - started) / 1000 });
  expect(findings).toEqual(NOTHING_FOUND);
  expect(kills).toBeGreaterThan(2);
  expect(tables.calls.length).toBeGreaterThanOrEqual(CALLS);
});

test("10,000 calls, two engines", async () => {
  const started = performance.now();
  await using run = await openCrashRun();
  const chance = createChance(A_SEED);
  const options = {
    run,
    chance,
    items: MIXTURE,
    engines: 2,
    kills: 40,
    growth: [20_000, 150_000],
    more: MORE,
  } as const;
  const { kills } = await killAtRandom(options);
  const findings = await run.recover(MIXTURE, PATIENCE_MS);
  const tables = await readTables(run.databaseUrl);
  printRun(run, tables, findings, { name: "two engines", kills, seconds: (performance.now() - started) / 1000 });
  expect(findings).toEqual(NOTHING_FOUND);
  expect(kills).toBeGreaterThan(10);
  expect(tables.calls.length).toBeGreaterThan(9_500);
});

test("2,000 calls, the database server killed under them", async () => {
  const started = performance.now();
  await using server = await startMortalServer();
  await using run = await openCrashRun({ databaseUrl: server.url });
  const items = { safe: 500, unsafe: 700, keyed: 400, card: 200, step: 67, event: 100, command: 100 };
  const { kills, exit } = await killServerAtRandom({
    run,
    chance: createChance(A_SEED),
    items,
    kills: 12,
    growth: [10_000, 80_000],
    killServer: server.killAndRestart,
    more: MORE,
  });
  const findings = await run.recover(items, PATIENCE_MS);
  const seconds = (performance.now() - started) / 1000;
  printRun(run, await readTables(run.databaseUrl), findings, { name: "database killed", kills, seconds });
  expect(findings).toEqual(NOTHING_FOUND);
  expect(exit).toEqual({ code: 0, signal: null });
  expect(kills).toBeGreaterThan(3);
});
