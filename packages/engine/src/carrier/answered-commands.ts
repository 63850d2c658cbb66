// Removes commands from the carrier whose calls were started without them. Services beside the engine claim calls in the
// database, and the commands of those calls stay on the carrier. Where services also fetch from the carrier, this fetches
// commands, compares them with the rows, and acknowledges those that are over. Where no service does, it throws all of them
// away: the rows are the truth.
//   SW1. Only a command whose call is known and no longer queued is acknowledged; every other goes back at once. A call that is
//        queued again later has a new command (I13), so nothing is lost with the old one.
//   SW2. Two events start a look: a claim after the command had left, or a command that left after the claim. Both only name the
//        receiver. Looks at one receiver do not overlap; any number of events during a look cause one more.
//   SW3. After a look that found little (a long queue, a receiver shared with others) there is a growing pause.
//   SW4. Commands are thrown away at most once a second for each receiver. When a service comes to serve the receiver, the queued
//        calls are published again (`attach`).
//   SW5. Any number of processes may look at once; each command is with one of them.
//   SW6. A command to the project manager that breaks the protocol is terminated, with the clause in the log. Nothing is run
//        from its content: the project manager claims rows, so a call whose row is sound goes on (I13).

import type { CarrierBus, CommandDurable, Delivery } from "@toolplane/bus";
import { HEADERS, tryParseSubject } from "@toolplane/protocol";
import { createAlarm } from "../bus/alarm.ts";
import type { Ground } from "../ports/ground.ts";
import type { Queryer } from "../sql/database.ts";
import { ANSWERED, bindCommands } from "./answered.sql.ts";
import { commandsOf, PMO, type Receiver } from "./plan-durables.ts";

export interface AnsweredCommandsOptions extends Pick<Ground, "clock" | "faults" | "log"> {
  readonly db: Queryer;
  readonly bus: Pick<CarrierBus, "commands" | "commandSubjects" | "purgeCommands">;
  /** Whether services take the commands of this durable from the carrier; undefined when that is not known yet. */
  readonly isFetched: (durable: string) => boolean | undefined;
  /** Why a command to the project manager must never be carried out; undefined when it is sound. */
  readonly malformed?: ((command: Delivery) => string | undefined) | undefined;
  /** The durable did not answer: it may be missing. */
  readonly missed?: (() => void) | undefined;
}

export interface SweepStats {
  readonly looks: number;
  readonly acknowledged: number;
  /** Commands that went back because their calls still wait. */
  readonly returned: number;
  /** How often the commands of a receiver from which no service fetches were thrown away. */
  readonly purges: number;
  /** Commands that broke the protocol. */
  readonly terminated: number;
}

export interface AnsweredCommands {
  /** Commands to this receiver may be over. */
  notice(receiver: Receiver): void;
  /**
   * These durables exist: looks at those it could not reach, and from time to time at all of them, for canceled calls and for
   * leftovers of a process that died.
   */
  lookAt(durables: readonly CommandDurable[]): void;
  stats(): SweepStats;
  stop(): Promise<void>;
}

const PAGE = 256;
/** What is held during one look at most: some megabytes. */
const MOST_HELD = 4_096;
/** Only an empty durable is waited for, and not for long. */
const WAIT_MS = 20;
/** Below this share a look is not worth its cost. */
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

  /** Fetches page after page; commands that still wait are held meanwhile, or they would be the next page. */
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
      // The carrier or the database is away, or the durable does not exist yet: the keeper of durables says when it does.
      unreached.set(pattern, { durable, pattern });
      rest(pattern, true);
      missed?.();
    }
  };

  /** What dead processes left at receivers without fetching services. */
  const noticeLeftBehind = async (): Promise<void> => {
    const subjects = await bus.commandSubjects().catch(() => []);
    for (const subject of subjects) {
      const receiver = tryParseSubject(subject);
      const commands = receiver === undefined ? undefined : commandsOf(receiver);
      if (commands !== undefined && isFetched(commands.durable) === false) dirty.set(commands.pattern, commands);
    }
    alarm.wake();
  };

  /** The next receiver to look at, or how long to wait for one. */
  const next = (): CommandDurable | number => {
    let waitMs = Number.POSITIVE_INFINITY;
    for (const commands of dirty.values()) {
      const ms = (resting.get(commands.pattern)?.until ?? 0) - clock.now();
      if (ms <= 0) return commands;
      waitMs = Math.min(waitMs, ms);
    }
    // When no receiver waits for a look, pauses that are over are dropped.
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
