// Engines under load that are killed at random moments and started again, until they have asked for everything. A moment is an
// amount of work, not of time: a slow machine is killed as often as a fast one.

import { statSync } from "node:fs";
import type { ExitStatus } from "@toolplane/processes";
import { until } from "../guarded-leftovers.ts";
import type { CrashRun } from "./crash-run.ts";
import type { ItemCounts } from "./item.ts";
import type { Chance } from "./random.ts";
import { type EngineChild, startEngineChild } from "./run-child.ts";
import type { WorkloadConfig } from "./workload.ts";

export interface KillingOptions {
  readonly run: CrashRun;
  readonly chance: Chance;
  readonly items: ItemCounts;
  readonly engines: number;
  /** At most so many. */
  readonly kills: number;
  /** Bytes the journal grows from one kill to the next, at least and at most. */
  readonly growth: readonly [number, number];
  readonly more?: Partial<WorkloadConfig> | undefined;
}

export interface Killing {
  /** Processes killed while they had work. */
  readonly kills: number;
}

// A life without progress for this long is stuck.
const PATIENCE_MS = 120_000;

/** Resolves when the journal has grown by so many bytes, or at once when `over` says so. */
const untilJournalGrows = (run: CrashRun, bytes: number, over: () => boolean): Promise<void> => {
  const size = (): number => statSync(run.journal, { throwIfNoEntry: false })?.size ?? 0;
  const enough = size() + bytes;
  return until(`${bytes} more bytes of journal`, () => over() || size() >= enough, PATIENCE_MS);
};

/** Resolves when every engine has asked for all its items and has left. */
export const killAtRandom = async (options: KillingOptions): Promise<Killing> => {
  const { run, chance, items, engines, growth } = options;
  const finished = new Set<EngineChild>();
  const start = async (index: number, life: number): Promise<EngineChild> => {
    const shard = { index, of: engines };
    const child = await startEngineChild(run.life(`engine-${index}-${life}`, items, { ...options.more, shard }));
    void child.done.then((done) => done && finished.add(child));
    await child.ready;
    return child;
  };
  const children = await Promise.all(Array.from({ length: engines }, (_, index) => start(index, 0)));
  let kills = 0;
  try {
    while (kills < options.kills) {
      await untilJournalGrows(run, chance.between(...growth), () => finished.size === engines);
      const working = children.flatMap((child, index) => (finished.has(child) ? [] : [index]));
      const index = working[chance.between(0, working.length - 1)];
      if (index === undefined) break;
      await children[index]?.kill();
      kills += 1;
      children[index] = await start(index, kills);
    }
    await Promise.all(children.map((child) => child.done));
    await Promise.all(children.map((child) => child.leave()));
  } finally {
    for (const child of children) await child[Symbol.asyncDispose]();
  }
  return { kills };
};

export interface ServerKillingOptions {
  readonly run: CrashRun;
  readonly chance: Chance;
  readonly items: ItemCounts;
  readonly kills: number;
  readonly growth: readonly [number, number];
  readonly killServer: () => Promise<void>;
  readonly more?: Partial<WorkloadConfig> | undefined;
}

/** One engine that lives through the deaths of its database server, and leaves when it has asked for everything. */
export const killServerAtRandom = async (
  options: ServerKillingOptions,
): Promise<Killing & { readonly exit: ExitStatus }> => {
  const { run, chance, items, growth } = options;
  await using child = await startEngineChild(run.life("engine", items, options.more));
  let over = false;
  void child.done.then(() => {
    over = true;
  });
  await child.ready;
  let kills = 0;
  while (kills < options.kills) {
    await untilJournalGrows(run, chance.between(...growth), () => over);
    if (over) break;
    await options.killServer();
    kills += 1;
  }
  await child.done;
  return { kills, exit: await child.leave() };
};
