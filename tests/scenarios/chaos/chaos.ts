// One run: a plane, a load, somebody who kills, and the check when all is quiet. A moment to kill is an amount of work
// done, not of time: a slow machine is killed as often as a fast one.

import { statSync } from "node:fs";
import { type Chance, createChance, until } from "@toolplane/testkit";
import { type ChaosCheck, checkChaos, type UnderWay, untilQuiet } from "./chaos-check.ts";
import { askForAll, type Load, prepareAgents } from "./chaos-load.ts";
import { type ChaosPlaneOptions, openChaosPlane } from "./chaos-plane.ts";
import { type CommandsCounted, countCommandsLeft } from "./commands-left.ts";

/** Something beside the processes that is hurt once, when so much of the work is done. */
export interface Blow {
  /** From 0 to 1: the share of the calls' effects. */
  readonly at: number;
  strike(): Promise<void>;
}

export interface ChaosOptions extends Load, ChaosPlaneOptions {
  readonly seed: number;
  /** Processes killed while there is work. */
  readonly kills: number;
  readonly blows?: readonly Blow[] | undefined;
  readonly quietMs: number;
  /** Which commands may not be left on NATS in the end. */
  readonly commandsCounted: CommandsCounted;
}

export interface ChaosReport extends ChaosCheck {
  readonly kills: Readonly<Record<string, number>>;
  readonly falls: Readonly<Record<string, number>>;
  readonly left: UnderWay;
  /** Commands that NATS still holds. */
  readonly commandsLeft: number;
  readonly exits: Readonly<Record<string, number | null>>;
  /** From the start: until all were ready, all was asked for, all was quiet, all had stopped. */
  readonly seconds: {
    readonly ready: number;
    readonly asked: number;
    readonly quiet: number;
    readonly stopped: number;
  };
}

/** What one call leaves in the journal, about. */
const BYTES_PER_CALL = 300;
const PATIENCE_MS = 300_000;

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** When to kill, in bytes of journal, spread over the run. */
const planMoments = (chance: Chance, kills: number, bytes: number): readonly number[] =>
  Array.from({ length: kills }, () => chance.between(0, bytes)).sort((a, b) => a - b);

export const runChaos = async (options: ChaosOptions): Promise<ChaosReport> => {
  const { calls, turns, kills, seed, quietMs } = options;
  const chance = createChance(seed);
  const began = performance.now();
  const since = (): number => Math.round((performance.now() - began) / 100) / 10;
  await using plane = await openChaosPlane(options);
  const { members, journal } = plane;
  await prepareAgents(plane);
  const ready = since();
  const whole = calls * BYTES_PER_CALL;
  let over = false;
  const reached = (bytes: number): Promise<void> =>
    until(`${bytes} bytes of journal`, () => over || sizeOf(journal) >= bytes, PATIENCE_MS);

  const asking = askForAll(plane, options);
  const striking = (async () => {
    for (const { at, strike } of options.blows ?? []) {
      await reached(at * whole);
      await strike();
    }
  })();
  const killing = (async () => {
    for (const moment of planMoments(chance, kills, whole)) {
      await reached(moment);
      if (over) return;
      await until("somebody is ready", () => members.some((member) => member.isReady()), PATIENCE_MS);
      const [first, ...rest] = members.filter((member) => member.isReady());
      if (first !== undefined) await chance.pick([first, ...rest]).kill();
    }
  })();
  await Promise.all([asking, striking]);
  const asked = since();
  const left = await untilQuiet(plane, quietMs);
  const quiet = since();
  over = true;
  await killing;
  await plane.untilReady();
  const commandsLeft = await countCommandsLeft(options.natsUrl, options.commandsCounted);
  const check = await checkChaos(plane, turns);
  const byName = (count: (member: (typeof members)[number]) => number) =>
    Object.fromEntries(members.map((member) => [member.name, count(member)]));
  const exits = await plane.stop();
  return {
    ...check,
    left,
    commandsLeft,
    kills: byName((member) => member.kills()),
    falls: byName((member) => member.falls()),
    exits,
    seconds: { ready, asked, quiet, stopped: since() },
  };
};
