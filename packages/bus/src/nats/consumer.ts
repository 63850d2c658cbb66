// One consumer: as many open requests as there are free places, and a handler for each message.
//   - After `stop` no handler starts; messages that still arrive are given back at once.
//   - When the server has lost our requests, or the durable itself, both are made again, without end.

import type { Msg } from "@nats-io/transport-node";
import { type Backoff, backoff } from "@toolplane/protocol";
import { streamPlan } from "@toolplane/protocol/agents";
import { DEFAULT_DRAIN_MS, type DeliveryHandler, type DrainOptions } from "../bus.ts";
import { type Clock, inTime } from "../clock.ts";
import type { ConsumePlan } from "../consume-plan.ts";
import { createAnswer } from "./answer.ts";
import { readArrival } from "./arrival.ts";
import { createHandling, failureCode, type Handling, type HandlingDeps, loseMessage } from "./handling.ts";
import { openPull, type Pull, type PullEnd } from "./pull.ts";
import type { Wire } from "./wire.ts";

export interface ConsumerDeps extends HandlingDeps {
  readonly wire: Wire;
  readonly clock: Clock;
  /** Makes sure that the durable exists. */
  readonly ensure: () => Promise<void>;
}

export interface RunningConsumer {
  stop(options?: DrainOptions): Promise<void>;
}

const RETRY_MS: Backoff = { first: 50, longest: 5_000 };

export const startConsumer = (deps: ConsumerDeps, plan: ConsumePlan, handler: DeliveryHandler): RunningConsumer => {
  const { wire, clock, log, counters, ensure } = deps;
  const stream = streamPlan(plan.category).name;
  const stopping = new AbortController();
  const running = new Map<Promise<void>, Handling | undefined>();
  let pull: Pull | undefined;
  let failures = 0;

  const refill = (): void => {
    if (pull === undefined || stopping.signal.aborted) return;
    const places = plan.maxInFlight - running.size;
    const missing = Math.min(plan.batch, places) - pull.outstanding();
    // Half a batch at a time, so that a busy consumer does not ask once per message.
    if (missing > 0 && pull.outstanding() <= Math.floor(plan.batch / 2)) pull.ask({ count: missing });
  };

  const track = (work: Promise<void>, handling: Handling | undefined): void => {
    counters.inFlight++;
    const tracked: Promise<void> = work.finally(() => {
      counters.inFlight--;
      running.delete(tracked);
      refill();
    });
    running.set(tracked, handling);
  };

  const take = (raw: Msg): void => {
    failures = 0;
    const answer = createAnswer({ requests: wire.requests, clock, ackWaitMs: plan.ackWaitMs }, raw);
    if (stopping.signal.aborted) {
      track(
        answer.nak(0).catch(() => {}),
        undefined,
      );
      return;
    }
    const arrival = readArrival(raw, plan);
    if (arrival.kind === "message") {
      const handling = createHandling(deps, plan, { ...arrival, answer });
      track(handling.run(handler), handling);
    } else if (arrival.kind === "lost") {
      track(loseMessage(deps, { ...arrival, answer }), undefined);
    } else {
      log.warn("a message whose subject is not of the protocol was dropped", { durable: plan.durable });
      track(
        answer.term().catch(() => {}),
        undefined,
      );
    }
  };

  /** Runs until the server no longer knows the durable, or until `stop`. */
  const session = async (): Promise<PullEnd | "stopped"> => {
    const over = Promise.withResolvers<PullEnd | "stopped">();
    const stop = (): void => over.resolve("stopped");
    stopping.signal.addEventListener("abort", stop, { once: true });
    const opened = openPull(
      wire,
      { stream, durable: plan.durable },
      {
        onMessage: (raw) => {
          take(raw);
          refill();
        },
        onSpent: refill,
        onEnd: over.resolve,
      },
    );
    pull = opened;
    refill();
    const reason = await over.promise;
    stopping.signal.removeEventListener("abort", stop);
    await opened.stop();
    pull = undefined;
    return reason;
  };

  const pause = async (): Promise<void> => {
    const waking = new AbortController();
    const wake = (): void => waking.abort();
    stopping.signal.addEventListener("abort", wake, { once: true });
    const forget = wire.onReconnect(wake);
    if (!stopping.signal.aborted) await clock.sleep(backoff(RETRY_MS, ++failures), waking.signal);
    forget();
    stopping.signal.removeEventListener("abort", wake);
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // Opening fails only when the connection was closed for good; then it waits for `stop`.
      const reason = await session().catch((): PullEnd => "lost");
      if (reason === "stopped") return;
      log.info("a consumer starts again", { durable: plan.durable, reason });
      let ready = false;
      while (!ready && !stopping.signal.aborted) {
        await pause();
        if (!wire.connected()) continue;
        try {
          await ensure();
          ready = true;
        } catch (error) {
          log.warn(
            "this process could not make the durable of a consumer again; it tries again, and the consumer gets no messages until then",
            { durable: plan.durable, code: failureCode(error) },
          );
        }
      }
    }
  };

  counters.consumers++;
  const ended = loop().finally(() => {
    counters.consumers--;
  });

  const drained = async (): Promise<void> => {
    await ended;
    await Promise.all(running.keys());
  };

  let stopped: Promise<void> | undefined;
  const stop = async (drainMs: number): Promise<void> => {
    stopping.abort();
    await inTime(clock, drainMs, drained());
    await Promise.allSettled([...running.values()].map(async (handling) => handling?.abandon()));
    await ended;
  };

  return {
    stop: ({ drainMs = DEFAULT_DRAIN_MS } = {}) => {
      stopped ??= stop(drainMs);
      return stopped;
    },
  };
};
