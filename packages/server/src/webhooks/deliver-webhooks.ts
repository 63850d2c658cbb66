// Delivers webhooks in this process: reads the events of the projects that have some, claims what is due, sends it.
//   DW1. A bell wakes it: something happened, a webhook was made, a delivery was replayed. Between bells it looks when the next
//        delivery is due, and every five seconds: so long a lost bell delays a webhook (I13). While no webhook waits for events and no
//        delivery waits, it looks every thirty seconds and reads no event.
//   DW2. A receiver has a few requests of a project under way at most, and a project a few more. So a receiver that does not answer
//        holds up neither other receivers nor other projects, however many webhooks lead to it.
//   DW3. It reads a page of each project and sends what is due before it reads further pages. So a project whose events come as fast as they
//        are read holds up neither the reading nor the sending of the others.
//   DW4. When it stops, requests under way are cut off; their leases lapse and other processes send them again, with the same id.

import {
  type ClaimedDelivery,
  type Clock,
  createAlarm,
  type Engine,
  type EventReader,
  type LineUnderWay,
  type Log,
} from "@toolplane/engine";
import type { SendDelivery } from "./send-delivery.ts";

export interface WebhookDelivery {
  stop(): Promise<void>;
}

export interface DeliverWebhooksOptions {
  readonly engine: Pick<Engine, "webhooks" | "doorbell">;
  readonly keyId: string;
  readonly send: SendDelivery;
  readonly clock: Clock;
  readonly log: Log;
}

const RINGS = ["messages", "events", "queued", "sessions", "settled", "registry"] as const;
/** Requests that wait for an answer cost little: enough for many projects whose receivers are all silent. */
const MOST_AT_ONCE = 256;
const PER_PROJECT = 16;
const PER_RECEIVER = 4;
/** Longer than a receiver may take. */
const LEASE_SECONDS = 60;
/** A call that settles in another process may ring no bell here. */
const LOOK_AGAIN_MS = 5_000;
const LOOK_FOR_WEBHOOKS_MS = 30_000;
const LEAST_WAIT_MS = 20;

export const deliverWebhooks = ({ engine, keyId, send, clock, log }: DeliverWebhooksOptions): WebhookDelivery => {
  const { webhooks, doorbell } = engine;
  const alarm = createAlarm(clock);
  const stopping = new AbortController();
  const underWay = new Map<Promise<void>, ClaimedDelivery>();
  /** Some webhook waits for events. */
  let hasReaders = true;
  let isRung = true;
  /** Projects whose last page was not their last one. */
  let behind: readonly EventReader[] = [];
  let isAway = false;

  // Without readers only the registry's bell means something: rings of calls would be work for nothing.
  const stopBells = RINGS.map((kind) =>
    doorbell.listen(kind, () => {
      if (!hasReaders && kind !== "registry") return;
      isRung = true;
      alarm.wake();
    }),
  );

  const readEvents = async (): Promise<void> => {
    let readers = behind;
    behind = [];
    // A bell may be of any project.
    if (isRung || readers.length === 0) {
      isRung = false;
      readers = await webhooks.readers();
      hasReaders = readers.length > 0;
    }
    const further: EventReader[] = [];
    for (const reader of readers) {
      if (stopping.signal.aborted) return;
      const next = await webhooks.read(reader);
      if (next !== undefined) further.push(next);
    }
    behind = further;
  };

  const linesUnderWay = (): readonly LineUnderWay[] => {
    const lines = Map.groupBy(underWay.values(), ({ projectId, receiver }) => `${projectId} ${receiver}`);
    return [...lines.values()].map(([first, ...others]) => ({
      projectId: (first as ClaimedDelivery).projectId,
      receiver: (first as ClaimedDelivery).receiver,
      count: others.length + 1,
    }));
  };

  const deliver = async (delivery: ClaimedDelivery): Promise<void> => {
    const outcome = await send(delivery, stopping.signal);
    // Cut off by the stop: the lease lapses.
    if (stopping.signal.aborted && !outcome.taken) return;
    const end = await webhooks.settle(delivery, outcome);
    if (outcome.taken) return;
    const about = {
      ...{ project: delivery.projectId, webhookId: delivery.webhookId, deliveryId: delivery.deliveryId },
      ...{ event: delivery.event, host: URL.parse(delivery.url)?.host, attempt: delivery.attempts },
      reason: outcome.reason,
    };
    if (end.status === "pending")
      log.warn("a webhook was not delivered and is tried again", { ...about, nextInSeconds: end.nextInSeconds });
    else
      log.warn("a webhook was not delivered and is dead", {
        ...about,
        todo: `toolplane webhooks replay ${delivery.deliveryId}`,
      });
  };

  const claimDue = async (): Promise<void> => {
    for (let room = MOST_AT_ONCE - underWay.size; room > 0 && !stopping.signal.aborted; ) {
      const claimed = await webhooks.claim({
        ...{ keyId, max: room, leaseSeconds: LEASE_SECONDS, underWay: linesUnderWay() },
        ...{ perReceiver: PER_RECEIVER, perProject: PER_PROJECT },
      });
      for (const delivery of claimed) {
        const sending = deliver(delivery)
          .catch((error: unknown) =>
            log.warn("the outcome of a webhook could not be stored; its lease lapses, and it is sent again", {
              deliveryId: delivery.deliveryId,
              reason: String(error),
            }),
          )
          .finally(() => {
            underWay.delete(sending);
            alarm.wake();
          });
        underWay.set(sending, delivery);
      }
      if (claimed.length === 0) return;
      room = MOST_AT_ONCE - underWay.size;
    }
  };

  /** Sends what is due; resolves to when it has to look again. */
  const sendDue = async (): Promise<number> => {
    // Asked before the claim: a delivery that becomes due in between is claimed. What is due and cannot be claimed waits for a request (the
    // order of its call, the places of its receiver), whose end wakes the loop, or is for another process.
    const due = await webhooks.nextDueMs();
    if (due === undefined) return hasReaders ? LOOK_AGAIN_MS : LOOK_FOR_WEBHOOKS_MS;
    await claimDue();
    return due === 0 ? LOOK_AGAIN_MS : Math.min(Math.max(due, LEAST_WAIT_MS), LOOK_AGAIN_MS);
  };

  const round = async (): Promise<number> => {
    try {
      await readEvents();
      const ms = await sendDue();
      isAway = false;
      return behind.length > 0 ? 0 : ms;
    } catch (error) {
      if (!isAway)
        log.warn("this process could not read or claim webhooks; it tries again every five seconds", {
          reason: String(error),
        });
      isAway = true;
      return LOOK_AGAIN_MS;
    }
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      alarm.rest();
      const ms = await round();
      if (!stopping.signal.aborted) await alarm.wait(ms);
    }
  };
  const running = run();

  return {
    async stop() {
      stopping.abort();
      for (const stop of stopBells) stop();
      alarm.wake();
      await running;
      await Promise.all(underWay.keys());
    },
  };
};
