// The relay: carries the outbox to an external bus. Any number may run at once, in any number of processes.
//   RO1. Claim, publish with a message id, delete: in this order. When a relay dies in between, its claim lapses, and the same
//       message is published again under the same id, so the bus can recognise it. Nobody waits for the deletion: it goes with
//       the claim of the next batch, so a batch costs one round trip of the database, and new messages meanwhile are the next
//       batch. Claims are short and are extended while a slow bus is waited for, so messages of a dead process are soon free.
//   RO2. A message that the bus refuses for good becomes a dead letter; every other is tried without end (I3). A parcel of
//       events is buried only when all that is left of it is refused for good.
//   RO3. A message that cannot be published does not hold up the others: the messages of a failed batch are tried one by one.
//       A command that only its receiver misses (`unheard`) says nothing about the bus: the relay goes on without a pause.
//   RO4. When idle, it waits for the doorbell or until a delayed message is due; the slow look is for lost rings (I13).

import type { Bus, BusMessage } from "@toolplane/bus";
import { type Backoff, backoff, type HeaderMap, isToolplaneError } from "@toolplane/protocol";
import { createAlarm } from "../bus/alarm.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Database } from "../sql/database.ts";
import { BURY_REFUSED, CARRY_OUTBOX, EXTEND_CLAIM, PUT_OFF, type RelayNews, type RelayRow } from "./relay.sql.ts";

export interface RelayWatch {
  /** Commands have left whose calls were already started without them. */
  answered(receivers: RelayNews["answered"]): void;
  /** The bus answers again. */
  recovered(): void;
}

export interface RelayOptions {
  readonly db: Database;
  readonly bus: Pick<Bus, "publish">;
  readonly doorbell: Doorbell;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
  readonly faults: Faults;
  readonly batch?: number | undefined;
  /** How long a claimed batch is not offered to others after the last sign of its relay. */
  readonly claimMs?: number | undefined;
  readonly lookAgainMs?: number | undefined;
  /** Must succeed before anything is carried; tried until it does. */
  readonly prepare?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly watch?: RelayWatch | undefined;
}

export interface RelayStats {
  readonly published: number;
  readonly batches: number;
  readonly failed: number;
  readonly buried: number;
  /** Batches in a row that did not get through; 0 while the bus answers. */
  readonly outages: number;
}

export interface Relay {
  stats(): RelayStats;
  /** Finishes the current batch. */
  stop(): Promise<void>;
}

/** One round trip of the database and one of the bus per this many messages. */
const DEFAULT_BATCH = 256;
/** Many times what a batch takes. When a relay was killed, its messages wait this long; publishing twice is harmless. */
const DEFAULT_CLAIM_MS = 3_000;
/** How often a claim is extended before it would lapse: one late extension does not lose it. */
const EXTENSIONS = 3;
const DEFAULT_LOOK_AGAIN_MS = 5_000;

/** How long what was published waits for the next batch to be deleted with. */
const DELETE_WITHIN_MS = 100;

/** A row that is due and was not claimed a moment ago is just being claimed by another relay. */
const LEAST_WAIT_MS = 20;

/** Each of these rings may mean a new row in the outbox: a call that can be claimed has a command. */
const RINGS = ["messages", "events", "queued", "sessions"] as const;

/** A bus that comes back is noticed within the longest wait. */
const RETRY_MS: Backoff = { first: 100, longest: 10_000 };

/** The id under which a row is published, the same each time. Row ids are not reused within a database. */
const messageIdOf = ({ message_id, written_at, id, part }: RelayRow): string =>
  message_id ?? (part === 0 ? `outbox-${written_at}-${id}` : `outbox-${written_at}-${id}-${part}`);

const messageOf = (row: RelayRow): BusMessage => ({
  subject: row.subject,
  // Written by us from a header map.
  headers: JSON.parse(row.headers) as HeaderMap,
  payload: row.payload,
  messageId: messageIdOf(row),
});

/** The bus works; the service that the command is for does not listen (payload-style services have no durable). */
const isUnheard = (error: unknown): boolean => isToolplaneError(error) && error.detail?.reason === "unheard";

/** One row for each message of the outbox, whatever it is made of. */
const firstsOf = (rows: readonly RelayRow[]): readonly RelayRow[] => rows.filter(({ part }) => part <= 1);

/** Undefined when it was published. */
type PublishOutcome = { readonly error: unknown } | undefined;

interface Failure {
  readonly row: RelayRow;
  readonly error: unknown;
}

/** What has left and is still in the outbox, under its claim. */
interface Published {
  readonly claimId: string;
  readonly ids: readonly string[];
}

const NOTHING: Published = { claimId: "", ids: [] };

/** One that carries batches: each deletes what it published itself. */
interface Carrying {
  published: Published;
}

interface Look {
  /** How long to wait for the next look; rings shorten the wait unless the bus is away. */
  readonly waitMs: number;
  readonly came: "nothing" | "through" | "back";
}

const isMessage = (row: RelayRow | RelayNews): row is RelayRow => row.id !== null;

const isFinal = (error: unknown): boolean => isToolplaneError(error) && error.retry === "never";

const codeOf = (error: unknown): string => (isToolplaneError(error) ? error.code : "internal_error");

/**
 * By message. A parcel has left when all of it has; an event that may still leave keeps it from being buried, whatever the bus
 * says of its other events.
 */
const errorsOf = (rows: readonly RelayRow[], outcomes: readonly PublishOutcome[]) => {
  const errors = new Map<string, { readonly error: unknown }>();
  for (const [index, { id }] of rows.entries()) {
    const outcome = outcomes[index];
    const earlier = errors.get(id);
    if (outcome !== undefined && (earlier === undefined || isFinal(earlier.error))) errors.set(id, outcome);
  }
  return errors;
};

export const relayOutbox = (options: RelayOptions): Relay => {
  const { db, bus, doorbell, ids, clock, log, faults, watch } = options;
  const { batch = DEFAULT_BATCH, claimMs = DEFAULT_CLAIM_MS, lookAgainMs = DEFAULT_LOOK_AGAIN_MS } = options;
  const alarm = createAlarm(clock);
  const stopping = new AbortController();
  let published = 0;
  let batches = 0;
  let failed = 0;
  let buried = 0;
  let outages = 0;
  let helping: Promise<void> | undefined;

  /** What became of each row: published, or the error. */
  const publishAll = async (rows: readonly RelayRow[]): Promise<readonly PublishOutcome[]> => {
    try {
      await bus.publish(rows.map(messageOf));
      return rows.map(() => undefined);
    } catch (error) {
      if (rows.length === 1) return [{ error }];
    }
    const singly = await Promise.allSettled(rows.map((row) => bus.publish([messageOf(row)])));
    return singly.map((outcome) => (outcome.status === "rejected" ? { error: outcome.reason as unknown } : undefined));
  };

  /** Publishes the rows like `publishAll`, and extends their claim meanwhile. */
  const publishHeld = async (rows: readonly RelayRow[], claimId: string): Promise<readonly PublishOutcome[]> => {
    const over = new AbortController();
    const holding = (async () => {
      for (;;) {
        await clock.sleep(claimMs / EXTENSIONS, over.signal);
        if (over.signal.aborted) return;
        // A claim that could not be extended lapses: another relay publishes under the same ids.
        await db.query(EXTEND_CLAIM, [firstsOf(rows).map(({ id }) => id), claimId, claimMs]).catch(() => {});
      }
    })();
    try {
      return await publishAll(rows);
    } finally {
      over.abort();
      // A late extension would undo what is decided below.
      await holding;
    }
  };

  const bury = async (refused: readonly Failure[], claimId: string): Promise<number> => {
    if (refused.length === 0) return Number.POSITIVE_INFINITY;
    const codes = refused.map(({ error }) => codeOf(error));
    for (const [index, { row }] of refused.entries())
      log.error("the bus refuses a message for good; it becomes a dead letter", {
        subject: row.subject,
        code: codes[index],
      });
    await db.query(BURY_REFUSED, [refused.map(({ row }) => row.id), claimId, codes]);
    buried += refused.length;
    return Number.POSITIVE_INFINITY;
  };

  /** Resolves to the ms until the first of them is due again. */
  const putOff = async (unsent: readonly Failure[], claimId: string): Promise<number> => {
    if (unsent.length === 0) return Number.POSITIVE_INFINITY;
    failed += unsent.length;
    const due = unsent.map(({ row }) => backoff(RETRY_MS, row.deliveries));
    await db.query(PUT_OFF, [unsent.map(({ row }) => row.id), claimId, due]);
    return Math.min(...due);
  };

  /** Claims the next batch and deletes the one before. */
  const claim = async (carrying: Carrying, claimId: string, most: number) => {
    const { published: before } = carrying;
    const values = [most, claimId, claimMs, before.ids, before.claimId];
    const answer = await db.query<RelayRow | RelayNews>(CARRY_OUTBOX, values);
    carrying.published = NOTHING;
    const news = answer.find((row): row is RelayNews => !isMessage(row));
    if (news !== undefined && news.answered.length > 0) watch?.answered(news.answered);
    if (before.ids.length > 0) await faults.at("relay:after-mark");
    const dueMs = Math.max(LEAST_WAIT_MS, news?.due_ms ?? Number.POSITIVE_INFINITY);
    return { rows: answer.filter(isMessage), dueAt: clock.now() + dueMs };
  };

  /** What was published and found no next batch; if it fails, the claim lapses and the messages are sent once more. */
  const deletePublished = async (carrying: Carrying): Promise<void> => {
    if (carrying.published.ids.length > 0) await claim(carrying, ids.uuid(), 0).catch(() => {});
  };

  const carry = async (carrying: Carrying): Promise<Look> => {
    const claimId = ids.uuid();
    const { rows, dueAt } = await claim(carrying, claimId, batch);
    const waitMs = (most: number): number => Math.max(0, Math.min(dueAt - clock.now(), most, lookAgainMs));
    if (rows.length === 0) return { waitMs: waitMs(lookAgainMs), came: "nothing" };
    const messages = firstsOf(rows);
    // More than one batch waits: while this one is on its way, the next is claimed (20,000 messages: two thirds of the time).
    if (messages.length === batch) helping ??= help();
    await faults.at("relay:after-claim");
    const outcomes = await publishHeld(rows, claimId);
    await faults.at("relay:after-publish");
    const errors = errorsOf(rows, outcomes);
    const done = messages.filter(({ id }) => !errors.has(id));
    published += done.length;
    if (done.length > 0) carrying.published = { claimId, ids: done.map(({ id }) => id) };
    const failures = messages.flatMap((row): readonly Failure[] => {
      const outcome = errors.get(row.id);
      return outcome === undefined ? [] : [{ row, error: outcome.error }];
    });
    const due = await Promise.all([
      bury(
        failures.filter(({ error }) => isFinal(error)),
        claimId,
      ),
      putOff(
        failures.filter(({ error }) => !isFinal(error)),
        claimId,
      ),
    ]);
    batches++;
    const isBack = done.length === 0 && failures.some(({ error }) => !isFinal(error) && !isUnheard(error));
    const deleteMs = done.length === 0 ? Number.POSITIVE_INFINITY : Math.min(DELETE_WITHIN_MS, claimMs / EXTENSIONS);
    return {
      waitMs: messages.length < batch ? waitMs(Math.min(...due, deleteMs)) : 0,
      came: isBack ? "back" : "through",
    };
  };

  /** Carries in parallel to the loop while batches are full; the loop itself meets every error. */
  const help = async (): Promise<void> => {
    const carrying: Carrying = { published: NOTHING };
    try {
      let isBusy = true;
      while (isBusy && !stopping.signal.aborted) {
        const { waitMs, came } = await carry(carrying);
        isBusy = came === "through" && waitMs === 0;
      }
    } catch (error) {
      log.warn("a batch of the outbox could not be relayed", { code: codeOf(error) });
    } finally {
      await deletePublished(carrying);
      helping = undefined;
    }
  };

  const prepare = async (): Promise<void> => {
    while (options.prepare !== undefined && !stopping.signal.aborted) {
      try {
        return await options.prepare(stopping.signal);
      } catch (error) {
        log.warn("the outbox cannot be relayed yet", { code: codeOf(error) });
        await clock.sleep(RETRY_MS.longest, stopping.signal);
      }
    }
  };

  const follow = async ({ waitMs, came }: Look): Promise<void> => {
    if (came === "back") {
      outages++;
      return clock.sleep(backoff(RETRY_MS, outages), stopping.signal);
    }
    if (came === "through" && outages > 0) {
      outages = 0;
      watch?.recovered();
    }
    if (waitMs > 0) await alarm.wait(waitMs);
  };

  const loop = async (): Promise<void> => {
    await prepare();
    const carrying: Carrying = { published: NOTHING };
    let failures = 0;
    while (!stopping.signal.aborted) {
      alarm.rest();
      try {
        const next = await carry(carrying);
        failures = 0;
        await follow(next);
      } catch (error) {
        failures++;
        log.warn("the outbox could not be relayed", { code: codeOf(error), failures });
        await clock.sleep(backoff(RETRY_MS, failures), stopping.signal);
      }
    }
    await deletePublished(carrying);
  };

  const stopListening = RINGS.map((kind) =>
    doorbell.listen(kind, () => {
      alarm.wake();
    }),
  );
  const ended = loop();

  return {
    stats: () => ({ published, batches, failed, buried, outages }),
    async stop() {
      stopping.abort();
      alarm.wake();
      for (const stop of stopListening) stop();
      await ended;
      await helping;
    },
  };
};
