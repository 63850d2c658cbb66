// One consumer: claim what fits, start a handler for each, wait for a reason to look again. The same loop serves
// commands and events; only the source of claims differs.
//
// The loop: no free place -> wait for a handler to end. A free place -> claim. As many as asked for, or more to be had
// -> again. Fewer -> nothing is there: wait for the bell, for a message that was put off here, or a slow while.
//   - A wake that comes while claiming is kept, so nothing is missed between looking and waiting.
//   - Nothing is claimed that is not started at once, so a claim always has a handler that settles it.
//   - After `stop` no handler starts; what a claim in flight still brings is given back.

import {
  type BusCounters,
  type ConsumePlan,
  DEFAULT_DRAIN_MS,
  type DeliveryHandler,
  type DrainOptions,
} from "@toolplane/bus";
import { backoff, isToolplaneError } from "@toolplane/protocol";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import { createAlarm } from "./alarm.ts";
import type { ClaimedMessage, ClaimSource } from "./claim.ts";
import { createHandling, type Handling } from "./handling.ts";
import type { BusDoorbell } from "./postgres-doorbell.ts";
import type { Settlement } from "./settlement.ts";

export interface ConsumerDeps {
  readonly source: ClaimSource;
  readonly settlement: Settlement;
  readonly doorbell: BusDoorbell;
  readonly clock: Clock;
  readonly log: Log;
  readonly counters: BusCounters;
  readonly lookAgainMs: number;
}

export interface RunningConsumer {
  stop(options?: DrainOptions): Promise<void>;
}

/** Timers may fire a millisecond early, and the database counts from when it wrote, not from when it was asked. */
const PUT_OFF_SLACK_MS = 5;

/** While the database is away; doubles up to the slow look. */
const FIRST_RETRY_MS = 100;

export const startConsumer = (deps: ConsumerDeps, plan: ConsumePlan, handler: DeliveryHandler): RunningConsumer => {
  const { source, settlement, doorbell, clock, log, counters, lookAgainMs } = deps;
  const alarm = createAlarm(clock);
  const stopping = new AbortController();
  const running = new Map<Handling, Promise<void>>();
  let failures = 0;

  const offeredAgain = (afterMs: number): void => {
    if (afterMs === 0) doorbell.ring("messages");
    else void clock.sleep(afterMs + PUT_OFF_SLACK_MS, stopping.signal).then(() => alarm.wake());
  };

  const start = (message: ClaimedMessage): void => {
    const handling = createHandling({ settlement, counters, log, offeredAgain }, plan, message);
    counters.inFlight++;
    const run = handling.run(handler).finally(() => {
      counters.inFlight--;
      running.delete(handling);
      alarm.wake();
    });
    running.set(handling, run);
  };

  /** How long to wait when nothing is there; a message in hand here may lapse before the slow look. */
  const idleMs = (): number => (running.size > 0 ? Math.min(lookAgainMs, plan.ackWaitMs) : lookAgainMs);

  const giveBack = (messages: readonly ClaimedMessage[]): Promise<unknown> =>
    Promise.allSettled(messages.map((message) => settlement.giveBack(message)));

  /** Whether to look again at once. */
  const look = async (limit: number): Promise<boolean> => {
    const { messages, buried, more } = await source.claim(limit);
    counters.deadLettered += buried;
    if (stopping.signal.aborted) await giveBack(messages);
    else messages.forEach(start);
    return more || messages.length + buried >= limit;
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      alarm.rest();
      const free = plan.maxInFlight - running.size;
      let again = false;
      let waitMs = idleMs();
      if (free > 0) {
        try {
          again = await look(Math.min(plan.batch, free));
          failures = 0;
        } catch (error) {
          const code = isToolplaneError(error) ? error.code : "internal_error";
          log.warn("a consumer could not claim", { durable: plan.durable, code, failures });
          waitMs = backoff({ first: FIRST_RETRY_MS, longest: lookAgainMs }, ++failures);
          // Rings must not turn the pause into a loop.
          await clock.sleep(waitMs, stopping.signal);
          continue;
        }
      }
      if (!again) await alarm.wait(waitMs);
    }
  };

  const stopListening = doorbell.listen("messages", () => {
    alarm.wake();
  });
  counters.consumers++;
  const ended = loop().finally(() => {
    stopListening();
    counters.consumers--;
  });

  const drained = async (): Promise<void> => {
    await ended;
    await Promise.all(running.values());
  };

  let stopped: Promise<void> | undefined;
  const stop = async (drainMs: number): Promise<void> => {
    stopping.abort();
    alarm.wake();
    const inTime = new AbortController();
    const all = drained().finally(() => {
      inTime.abort();
    });
    await Promise.race([all, clock.sleep(drainMs, inTime.signal)]);
    await Promise.allSettled([...running.keys()].map((handling) => handling.abandon()));
    await ended;
  };

  return {
    stop: ({ drainMs = DEFAULT_DRAIN_MS } = {}) => {
      stopped ??= stop(drainMs);
      return stopped;
    },
  };
};
