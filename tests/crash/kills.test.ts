// SIGKILL at moments nobody chose: of engines under load, and of the database server under engines under load.

import {
  CRASH_TEMPLATE,
  type CrashRun,
  createChance,
  type EngineChild,
  NOTHING_FOUND,
  openCrashRun,
  queryTestDatabase,
  startDatabaseProxy,
  startEngineChild,
  startTestPostgres,
  until,
} from "@toolplane/testkit";
import { expect, test } from "vitest";
import { A_LOAD } from "./items.ts";
import { A_SEED } from "./seed.ts";

const KILLS = 6;
const PATIENCE_MS = 60_000;

/** Resolves when the run has written so many more lines, or the process has asked for everything. */
const progress = async (run: CrashRun, child: EngineChild, lines: number): Promise<void> => {
  const enough = run.lines().length + lines;
  let over = false;
  void Promise.race([child.done, child.exited]).then(() => {
    over = true;
  });
  await until(`${lines} more lines in the journal`, () => over || run.lines().length >= enough, PATIENCE_MS);
};

test("[CRASH-2] two engines under load, killed again and again: nothing lost, doubled or stuck", {
  timeout: 120_000,
}, async () => {
  const chance = createChance(A_SEED);
  await using run = await openCrashRun();
  const start = (index: number, life: number) =>
    startEngineChild(run.life(`engine-${index}-${life}`, A_LOAD, { shard: { index, of: 2 } }));
  const children = await Promise.all([start(0, 0), start(1, 0)]);
  for (let kill = 1; kill <= KILLS; kill++) {
    const index = chance.between(0, 1);
    const child = children[index] as EngineChild;
    await child.ready;
    await progress(run, child, chance.between(5, 120));
    expect((await child.kill()).signal).toBe("SIGKILL");
    children[index] = await start(index, kill);
  }
  await Promise.all(children.map((child) => child.done));
  expect(await run.check(PATIENCE_MS)).toEqual(NOTHING_FOUND);
  for (const child of children) expect(await child.leave()).toEqual({ code: 0, signal: null });
  expect(await run.recover(A_LOAD)).toEqual(NOTHING_FOUND);
});

test("[CRASH-3] the database server, killed under load: what was acknowledged is there, and the engine goes on", {
  timeout: 180_000,
}, async () => {
  const chance = createChance(A_SEED);
  await using first = await startTestPostgres({ sync: true });
  await CRASH_TEMPLATE.migrate(first.url());
  expect(
    await queryTestDatabase(
      first.url(),
      "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit",
    ),
  ).toEqual([{ fsync: "on", commit: "on" }]);
  await using proxy = await startDatabaseProxy(first.url());
  await using run = await openCrashRun({ databaseUrl: proxy.url });
  await using child = await startEngineChild(run.life("engine", A_LOAD));
  await child.ready;
  let server = first;
  for (let kill = 1; kill <= 3; kill++) {
    await progress(run, child, chance.between(20, 150));
    await server.kill();
    server = await server.restart();
    proxy.aim(server.url());
  }
  expect(await child.done).toBe(true);
  expect(await run.check(PATIENCE_MS)).toEqual(NOTHING_FOUND);
  expect(await child.leave()).toEqual({ code: 0, signal: null });
  await server.stop();
});
