// The relay: carries the outbox to an external bus. Any number may run at once, in any number of processes.
//   R1. Claim, publish with a message id, delete: in this order. A relay that dies in between leaves a claim that
//       lapses, and the same message is published again under the same id, so the bus can tell.
//   R2. A message the bus refuses for good becomes a dead letter; everything else is tried for as long as it takes (I3).
//   R3. One message that cannot be published does not hold up the others: a batch that fails is tried one by one.
//   R4. Idle, it waits for the doorbell or until what was put off is due; the slow look is for rings that were lost (I13).

import type { Bus, BusMessage } from "@toolplane/bus";
import { type HeaderMap, isToolplaneError } from "@toolplane/protocol";
import { createAlarm } from "../bus/alarm.ts";
import type { Claim } from "../bus/claim.ts";
import { createSettlement } from "../bus/settlement.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Database } from "../sql/database.ts";
import { CLAIM_OUTBOX, NEXT_DUE, type RelayRow } from "./relay.sql.ts";

export interface RelayOptions {
  readonly db: Database;
  readonly bus: Pick<Bus, "publish">;
  readonly doorbell: Doorbell;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
  readonly faults: Faults;
  readonly batch?: number | undefined;
  /** How long a claimed batch may take to publish before another relay may try. */
  readonly claimMs?: number | undefined;
  readonly lookAgainMs?: number | undefined;
}

export interface RelayStats {
  readonly published: number;
  readonly failed: number;
  readonly buried: number;
}

export interface Relay {
  stats(): RelayStats;
  /** Finishes the batch in hand. */
  stop(): Promise<void>;
}

/** One round trip of the database and one of the bus per this many messages. */
const DEFAULT_BATCH = 256;
/** Far longer than a batch takes, so that a slow bus is not served the same batch by two relays. */
const DEFAULT_CLAIM_MS = 30_000;
const DEFAULT_LOOK_AGAIN_MS = 5_000;

/** Of those that were put off so many are looked at, the oldest first: a few milliseconds. */
const MAX_PUT_OFF = 10_000;
/** What is due and was not claimed a moment ago is just being claimed by another relay. */
const LEAST_WAIT_MS = 20;

/** What is rung for has a row in the outbox, or had one: a call that can be claimed has its command. */
const RINGS = ["messages", "queued", "sessions"] as const;

const FIRST_RETRY_MS = 100;
/** A bus that comes back is noticed within this time. */
const LONGEST_RETRY_MS = 10_000;

const retryMs = (attempt: number): number =>
  Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt - 1, 16));

/** The id under which a row is published, the same each time. Row ids are not reused within a database. */
const messageIdOf = (row: RelayRow): string => row.message_id ?? `outbox-${row.written_at}-${row.id}`;

const messageOf = (row: RelayRow): BusMessage => ({
  subject: row.subject,
  // Written by us from a header map.
  headers: JSON.parse(row.headers) as HeaderMap,
  payload: row.payload,
  messageId: messageIdOf(row),
});

/** Undefined when it was published. */
type PublishOutcome = { readonly error: unknown } | undefined;

const isFinal = (error: unknown): boolean => isToolplaneError(error) && error.retry === "never";

const codeOf = (error: unknown): string => (isToolplaneError(error) ? error.code : "internal_error");

export const relayOutbox = (options: RelayOptions): Relay => {
  const { db, bus, doorbell, ids, clock, log, faults } = options;
  const { batch = DEFAULT_BATCH, claimMs = DEFAULT_CLAIM_MS, lookAgainMs = DEFAULT_LOOK_AGAIN_MS } = options;
  const settlement = createSettlement(db, faults);
  const alarm = createAlarm(clock);
  const stopping = new AbortController();
  let published = 0;
  let failed = 0;
  let buried = 0;
  let outages = 0;

  const bury = async (row: RelayRow, claim: Claim, error: unknown): Promise<void> => {
    const code = codeOf(error);
    log.error("the bus refuses a message for good", { subject: row.subject, code });
    await settlement.bury(claim, { code, reason: "the bus refuses this message" });
    buried++;
  };

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

  /** Deletes, buries or puts off one row; returns in how many ms it is due again. */
  const mark = async (row: RelayRow, claim: Claim, failure: PublishOutcome): Promise<number> => {
    if (failure === undefined) {
      await settlement.ack(claim);
      published++;
      return Number.POSITIVE_INFINITY;
    }
    if (isFinal(failure.error)) {
      await bury(row, claim, failure.error);
      return Number.POSITIVE_INFINITY;
    }
    failed++;
    const dueMs = retryMs(row.deliveries);
    await settlement.delay(claim, dueMs);
    return dueMs;
  };

  const nextDueMs = async (): Promise<number> => {
    const [next] = await db.query<{ due_ms: number | null }>(NEXT_DUE, [MAX_PUT_OFF]);
    return Math.max(LEAST_WAIT_MS, next?.due_ms ?? Number.POSITIVE_INFINITY);
  };

  /** What to do next: wait for this long, with rings cutting it short unless nothing gets through. */
  const carry = async (): Promise<{ readonly waitMs: number; readonly outage: boolean }> => {
    const claimId = ids.uuid();
    const rows = await db.query<RelayRow>(CLAIM_OUTBOX, [batch, claimId, claimMs]);
    if (rows.length === 0) return { waitMs: Math.min(lookAgainMs, await nextDueMs()), outage: false };
    await faults.at("relay:after-claim");
    const outcomes = await publishAll(rows);
    await faults.at("relay:after-publish");
    const due = await Promise.all(
      rows.map((row, index) => mark(row, { durable: undefined, id: row.id, claimId }, outcomes[index])),
    );
    await faults.at("relay:after-mark");
    const outage = due.every((ms) => ms < Number.POSITIVE_INFINITY);
    return { waitMs: rows.length < batch ? Math.min(...due, await nextDueMs(), lookAgainMs) : 0, outage };
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      alarm.rest();
      try {
        const { waitMs, outage } = await carry();
        outages = outage ? outages + 1 : 0;
        if (outage) await clock.sleep(retryMs(outages), stopping.signal);
        else if (waitMs > 0) await alarm.wait(waitMs);
      } catch (error) {
        outages++;
        log.warn("the outbox could not be relayed", { code: codeOf(error), outages });
        await clock.sleep(retryMs(outages), stopping.signal);
      }
    }
  };

  const stopListening = RINGS.map((kind) =>
    doorbell.listen(kind, () => {
      alarm.wake();
    }),
  );
  const ended = loop();

  return {
    stats: () => ({ published, failed, buried }),
    async stop() {
      stopping.abort();
      alarm.wake();
      for (const stop of stopListening) stop();
      await ended;
    },
  };
};
