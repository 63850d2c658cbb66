// The sweeper of answered commands. Services beside the engine claim calls in the database, and the commands of those
// calls still lie on the carrier: they are fetched, compared with the rows, and acknowledged.
//   SW1. Only a command whose call is known and no longer queued is acknowledged; everything else goes back at once. A
//        call that is queued again later has a new command (I13), so nothing is lost with the old one.
//   SW2. It is driven by what happened: a claim after the command had left, or a command that left after the claim. Both
//        only name the receiver; looks do not overlap, and what happens during one is one more look, however much it was.
//   SW3. A look that found little (a long queue, a receiver shared with others) is followed by a pause that grows.
//   SW4. Any number of processes may look at once; each command is in one pair of hands.

import type { CarrierBus, Delivery } from "@toolplane/bus";
import { HEADERS, tryParseSubject } from "@toolplane/protocol";
import { createAlarm } from "../bus/alarm.ts";
import type { Clock } from "../ports/clock.ts";
import type { Faults } from "../ports/faults.ts";
import type { Queryer } from "../sql/database.ts";
import { ANSWERED, bindCommands } from "./answered.sql.ts";
import { durableFor } from "./plan-durables.ts";

export interface AnsweredCommandsOptions {
  readonly db: Queryer;
  readonly bus: Pick<CarrierBus, "commands">;
  readonly clock: Clock;
  readonly faults: Faults;
  /** The durable did not answer: it may be missing. */
  readonly missed?: (() => void) | undefined;
}

export interface SweepStats {
  readonly looks: number;
  readonly acknowledged: number;
  /** Those that went back because their calls still wait. */
  readonly returned: number;
}

export interface AnsweredCommands {
  /** Commands to this receiver may be over. */
  notice(component: string, target: string): void;
  /**
   * These are there: looks at those it could not reach, and now and then at all of them, for what was canceled and what
   * was left behind by a process that died.
   */
  lookAt(durables: readonly string[]): void;
  stats(): SweepStats;
  stop(): Promise<void>;
}

const PAGE = 256;
/** What is held during one look at most: some megabytes. */
const MOST_HELD = 4_096;
/** What is there is there: only an empty durable is waited for, and not for long. */
const WAIT_MS = 20;
/** Below this share a look is not worth its price. */
const RICH = 0.25;
const FIRST_REST_MS = 50;
const LONGEST_REST_MS = 2_000;
const ALL_EVERY_MS = 60_000;

const keyOf = (command: Delivery) => ({
  projectId: tryParseSubject(command.subject)?.projectId ?? "",
  toolCallId: command.headers[HEADERS.toolCallId] ?? "",
});

interface Rest {
  readonly ms: number;
  readonly until: number;
}

export const sweepAnswered = (options: AnsweredCommandsOptions): AnsweredCommands => {
  const { db, bus, clock, faults, missed } = options;
  const alarm = createAlarm(clock);
  const stopping = new AbortController();
  const { signal } = stopping;
  const dirty = new Set<string>();
  const unreached = new Set<string>();
  const resting = new Map<string, Rest>();
  let allAt = Number.NEGATIVE_INFINITY;
  let looks = 0;
  let acknowledged = 0;
  let returned = 0;

  const readAnswered = async (commands: readonly Delivery[]): Promise<ReadonlySet<Delivery>> => {
    const rows = await db.query<{ ord: number }>(ANSWERED, bindCommands(commands.map(keyOf)));
    return new Set(rows.map(({ ord }) => commands[ord - 1] as Delivery));
  };

  /** Fetches page after page; what still waits is held meanwhile, or it would be the next page. */
  const look = async (durable: string): Promise<{ readonly fetched: number; readonly over: number }> => {
    const source = bus.commands(durable);
    const held: Delivery[] = [];
    let fetched = 0;
    let over = 0;
    let page = PAGE;
    try {
      while (page === PAGE && held.length < MOST_HELD && !signal.aborted) {
        const commands = await source.fetch({ max: PAGE, waitMs: WAIT_MS, signal });
        page = commands.length;
        if (page === 0) break;
        fetched += page;
        const before = held.push(...commands) - page;
        await faults.at("sweep:after-fetch");
        const answered = await readAnswered(commands);
        await faults.at("sweep:after-read");
        held.splice(before, page, ...commands.filter((command) => !answered.has(command)));
        await Promise.all([...answered].map((command) => command.ack()));
        over += answered.size;
        acknowledged += answered.size;
        await faults.at("sweep:after-ack");
      }
    } finally {
      returned += held.length;
      await Promise.allSettled(held.map((command) => command.nak()));
    }
    return { fetched, over };
  };

  const rest = (durable: string, isPoor: boolean): void => {
    if (!isPoor) return void resting.delete(durable);
    const ms = Math.min(LONGEST_REST_MS, (resting.get(durable)?.ms ?? FIRST_REST_MS / 2) * 2);
    resting.set(durable, { ms, until: clock.now() + ms });
  };

  const sweep = async (durable: string): Promise<void> => {
    dirty.delete(durable);
    looks++;
    try {
      const { fetched, over } = await look(durable);
      rest(durable, over < fetched * RICH);
    } catch {
      // Away, not made yet, or the database is: whoever looks after durables says when it is there again.
      unreached.add(durable);
      rest(durable, true);
      missed?.();
    }
  };

  /** The next to look at, or how long to wait for one. */
  const next = (): string | number => {
    let waitMs = Number.POSITIVE_INFINITY;
    for (const durable of dirty) {
      const ms = (resting.get(durable)?.until ?? 0) - clock.now();
      if (ms <= 0) return durable;
      waitMs = Math.min(waitMs, ms);
    }
    return waitMs;
  };

  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      alarm.rest();
      const found = next();
      if (typeof found === "string") await sweep(found);
      else await alarm.wait(Math.min(found, ALL_EVERY_MS));
    }
  };
  const ended = loop();

  return {
    notice(component, target) {
      const durable = durableFor(component, target);
      if (durable === undefined || dirty.has(durable)) return;
      dirty.add(durable);
      alarm.wake();
    },
    lookAt(durables) {
      const isTime = clock.now() - allAt >= ALL_EVERY_MS;
      if (isTime) allAt = clock.now();
      for (const durable of durables) if (isTime || unreached.has(durable)) dirty.add(durable);
      unreached.clear();
      alarm.wake();
    },
    stats: () => ({ looks, acknowledged, returned }),
    async stop() {
      stopping.abort();
      alarm.wake();
      await ended;
    },
  };
};
