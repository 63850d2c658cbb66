// The sweeper of answered commands. Services beside the engine claim calls in the database, and the commands of those
// calls still lie on the carrier. Where services fetch from the carrier too, commands are fetched, compared with the rows,
// and acknowledged; where none does, all of them are thrown away: nobody would ever take them, and the rows are the truth.
//   SW1. Only a command whose call is known and no longer queued is acknowledged; everything else goes back at once. A
//        call that is queued again later has a new command (I13), so nothing is lost with the old one.
//   SW2. It is driven by what happened: a claim after the command had left, or a command that left after the claim. Both
//        only name the receiver; looks do not overlap, and what happens during one is one more look, however much it was.
//   SW3. A look that found little (a long queue, a receiver shared with others) is followed by a pause that grows.
//   SW4. What is thrown away is thrown away at most once a second for each receiver. A service that comes to serve it finds
//        the queued calls published again (`attach`).
//   SW6. A command to the project manager that breaks the protocol is terminated, with the clause in the log. Nothing runs from
//        its bytes: the project manager claims rows, so a call whose row is sound goes on (I13).
//   SW5. Any number of processes may look at once; each command is in one pair of hands.

import type { CarrierBus, CommandDurable, Delivery } from "@toolplane/bus";
import { HEADERS, tryParseSubject } from "@toolplane/protocol";
import { createAlarm } from "../bus/alarm.ts";
import type { Clock } from "../ports/clock.ts";
import type { Faults } from "../ports/faults.ts";
import type { Log } from "../ports/log.ts";
import type { Queryer } from "../sql/database.ts";
import { ANSWERED, bindCommands } from "./answered.sql.ts";
import { commandsOf, PMO, type Receiver } from "./plan-durables.ts";

export interface AnsweredCommandsOptions {
  readonly db: Queryer;
  readonly bus: Pick<CarrierBus, "commands" | "commandSubjects" | "purgeCommands">;
  readonly clock: Clock;
  readonly faults: Faults;
  /** Whether services take the commands of this durable from the carrier; undefined when that is not known yet. */
  readonly isFetched: (durable: string) => boolean | undefined;
  /** Why a command to the project manager must never be carried out; undefined when it is sound. */
  readonly malformed?: ((command: Delivery) => string | undefined) | undefined;
  readonly log: Log;
  /** The durable did not answer: it may be missing. */
  readonly missed?: (() => void) | undefined;
}

export interface SweepStats {
  readonly looks: number;
  readonly acknowledged: number;
  /** Those that went back because their calls still wait. */
  readonly returned: number;
  /** How often the commands of a receiver without a durable were thrown away. */
  readonly purges: number;
  /** Commands that broke the protocol. */
  readonly terminated: number;
}

export interface AnsweredCommands {
  /** Commands to this receiver may be over. */
  notice(receiver: Receiver): void;
  /**
   * These are there: looks at those it could not reach, and now and then at all of them, for what was canceled and what
   * was left behind by a process that died.
   */
  lookAt(durables: readonly CommandDurable[]): void;
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
const PURGE_REST_MS = 1_000;

const keyOf = (command: Delivery) => ({
  projectId: tryParseSubject(command.subject)?.projectId ?? "",
  toolCallId: command.headers[HEADERS.toolCallId] ?? "",
});

interface Rest {
  readonly ms: number;
  readonly until: number;
}

export const sweepAnswered = (options: AnsweredCommandsOptions): AnsweredCommands => {
  const { db, bus, clock, log, faults, missed, isFetched } = options;
  const alarm = createAlarm(clock);
  const stopping = new AbortController();
  const { signal } = stopping;
  /** By pattern: what lies there under this durable may be over. */
  const dirty = new Map<string, CommandDurable>();
  const unreached = new Map<string, CommandDurable>();
  const resting = new Map<string, Rest>();
  let allAt = Number.NEGATIVE_INFINITY;
  let looks = 0;
  let acknowledged = 0;
  let returned = 0;
  let purges = 0;
  let terminated = 0;

  const readAnswered = async (commands: readonly Delivery[]): Promise<ReadonlySet<Delivery>> => {
    const rows = await db.query<{ ord: number }>(ANSWERED, bindCommands(commands.map(keyOf)));
    return new Set(rows.map(({ ord }) => commands[ord - 1] as Delivery));
  };

  /** Ends those that break the protocol; returns the others. */
  const terminate = async (durable: string, commands: readonly Delivery[]): Promise<readonly Delivery[]> => {
    if (durable !== PMO.durable || options.malformed === undefined) return commands;
    const sound: Delivery[] = [];
    for (const command of commands) {
      const reason = options.malformed(command);
      if (reason === undefined) {
        sound.push(command);
        continue;
      }
      const call = command.headers[HEADERS.toolCallId];
      log.warn("a command breaks the protocol and was terminated; its call goes on from its row", { call, reason });
      await command.term(reason);
      terminated++;
    }
    return sound;
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
        const came = await source.fetch({ max: PAGE, waitMs: WAIT_MS, signal });
        page = came.length;
        if (page === 0) break;
        fetched += page;
        const before = held.push(...came) - page;
        const commands = await terminate(durable, came);
        await faults.at("sweep:after-fetch");
        const answered = await readAnswered(commands);
        await faults.at("sweep:after-read");
        held.splice(before, page, ...commands.filter((command) => !answered.has(command)));
        await Promise.all([...answered].map((command) => command.ack()));
        over += answered.size + page - commands.length;
        acknowledged += answered.size;
        await faults.at("sweep:after-ack");
      }
    } finally {
      returned += held.length;
      await Promise.allSettled(held.map((command) => command.nak()));
    }
    return { fetched, over };
  };

  const rest = (pattern: string, isPoor: boolean): void => {
    if (!isPoor) return void resting.delete(pattern);
    const ms = Math.min(LONGEST_REST_MS, (resting.get(pattern)?.ms ?? FIRST_REST_MS / 2) * 2);
    resting.set(pattern, { ms, until: clock.now() + ms });
  };

  const purge = async (pattern: string): Promise<void> => {
    await bus.purgeCommands(pattern);
    purges++;
    resting.set(pattern, { ms: PURGE_REST_MS, until: clock.now() + PURGE_REST_MS });
  };

  const sweep = async ({ durable, pattern }: CommandDurable): Promise<void> => {
    dirty.delete(pattern);
    looks++;
    try {
      const fetched = isFetched(durable);
      // The look that finds out is followed by `lookAt`.
      if (fetched === undefined) return void unreached.set(pattern, { durable, pattern });
      if (!fetched) return await purge(pattern);
      const seen = await look(durable);
      rest(pattern, seen.over < seen.fetched * RICH);
    } catch {
      // Away, not made yet, or the database is: whoever looks after durables says when it is there again.
      unreached.set(pattern, { durable, pattern });
      rest(pattern, true);
      missed?.();
    }
  };

  /** What processes that died left of receivers that nobody fetches for. */
  const noticeLeftBehind = async (): Promise<void> => {
    const subjects = await bus.commandSubjects().catch(() => []);
    for (const subject of subjects) {
      const receiver = tryParseSubject(subject);
      const commands = receiver === undefined ? undefined : commandsOf(receiver);
      if (commands !== undefined && isFetched(commands.durable) === false) dirty.set(commands.pattern, commands);
    }
    alarm.wake();
  };

  /** The next to look at, or how long to wait for one. */
  const next = (): CommandDurable | number => {
    let waitMs = Number.POSITIVE_INFINITY;
    for (const commands of dirty.values()) {
      const ms = (resting.get(commands.pattern)?.until ?? 0) - clock.now();
      if (ms <= 0) return commands;
      waitMs = Math.min(waitMs, ms);
    }
    // Rests are forgotten with the receivers that have become quiet.
    if (dirty.size === 0) for (const [pattern, { until }] of resting) if (until <= clock.now()) resting.delete(pattern);
    return waitMs;
  };

  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      alarm.rest();
      const found = next();
      if (typeof found === "number") await alarm.wait(Math.min(found, ALL_EVERY_MS));
      else await sweep(found);
    }
  };
  const ended = loop();

  return {
    notice(receiver) {
      const commands = commandsOf(receiver);
      if (commands === undefined || dirty.has(commands.pattern)) return;
      dirty.set(commands.pattern, commands);
      alarm.wake();
    },
    lookAt(durables) {
      const isTime = clock.now() - allAt >= ALL_EVERY_MS;
      if (isTime) allAt = clock.now();
      for (const commands of isTime ? [...durables, ...unreached.values()] : unreached.values())
        dirty.set(commands.pattern, commands);
      unreached.clear();
      if (isTime) void noticeLeftBehind();
      alarm.wake();
    },
    stats: () => ({ looks, acknowledged, returned, purges, terminated }),
    async stop() {
      stopping.abort();
      alarm.wake();
      await ended;
    },
  };
};
