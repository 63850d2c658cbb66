// What the watchdog does by itself, and how often: every job is a bounded piece that any number of processes may do at once.

import type { Batches } from "../batches/batches.ts";
import { trimMessages } from "../bus/message-retention.ts";
import { type CarriedBy, type StuckMessages, whyStuck } from "../outbox/stuck-messages.ts";
import type { Ground } from "../ports/ground.ts";
import type { Forgotten, RetentionPolicy } from "../retention/retention.ts";
import type { TendTurns } from "../turns/tend-turns.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import type { Expire } from "./expire.ts";
import type { WatchdogJob } from "./watchdog.ts";
import { createWatched } from "./watched.ts";

export interface JobsDeps extends Pick<Ground, "db" | "doorbell" | "faults" | "log" | "clock"> {
  readonly expire: Expire;
  readonly batches: Pick<Batches, "sweep">;
  readonly turns: { readonly tend: TendTurns };
  /** How many calls are open, for limits. */
  readonly measure: WatchdogJob["run"];
  readonly stuck: () => Promise<readonly StuckMessages[]>;
  readonly webhooks: Pick<Webhooks, "forget">;
  readonly retain: (policy: RetentionPolicy) => Promise<Forgotten>;
  readonly retention: RetentionPolicy | undefined;
  readonly carriedBy: CarriedBy;
  readonly relayStats: () => { readonly outages: number } | undefined;
}

export const SWEEP_LIMIT = 200;
const EXPIRE_EVERY_MS = 500;
// Events say when a child has ended; when one was lost, a batch is looked at this late.
const BATCHES_EVERY_MS = 1_000;
const BATCHES_LIMIT = 50;
const TEND_EVERY_MS = 1_000;
// A flood of calls is noticed after this time; the count takes some ten milliseconds when there are very many.
const MEASURE_EVERY_MS = 1_000;
// All open turns are looked at. Nothing here is urgent; it only must not be forgotten.
const OPEN_TURNS_EVERY_MS = 30_000;
const STUCK_EVERY_MS = 15_000;
const FORGET_EVERY_MS = 60_000;
// Short, so that a process that is started often and never lives for a minute deletes too.
const FORGET_FIRST_MS = 1_000;

const isFull = ({ looked }: { readonly looked: number }): boolean => looked === SWEEP_LIMIT;

export const createJobs = (deps: JobsDeps): readonly WatchdogJob[] => {
  const { db, doorbell, faults, log, expire, batches, turns, stuck, webhooks, retain, retention, carriedBy } = deps;
  const watched = createWatched(deps.clock);
  return [
    {
      name: "expire",
      everyMs: EXPIRE_EVERY_MS,
      run: async () => {
        const { looked } = await expire(SWEEP_LIMIT, watched.seconds());
        watched.looked();
        return looked >= SWEEP_LIMIT;
      },
    },
    {
      name: "batches",
      everyMs: BATCHES_EVERY_MS,
      run: async () => {
        const { looked, failed } = await batches.sweep(BATCHES_LIMIT);
        return looked === BATCHES_LIMIT && failed === 0;
      },
    },
    { name: "open calls", everyMs: MEASURE_EVERY_MS, run: deps.measure },
    { name: "lapsed claims", everyMs: TEND_EVERY_MS, run: async () => isFull(await turns.tend.lapsed(SWEEP_LIMIT)) },
    { name: "unheard rows", everyMs: TEND_EVERY_MS, run: async () => isFull(await turns.tend.unheard(SWEEP_LIMIT)) },
    {
      name: "open turns",
      everyMs: OPEN_TURNS_EVERY_MS,
      run: async () => {
        await turns.tend.open(SWEEP_LIMIT);
        return false;
      },
    },
    {
      name: "stuck messages",
      everyMs: STUCK_EVERY_MS,
      run: async () => {
        for (const { messages, oldestMs, ...where } of await stuck()) {
          log.warn(whyStuck(deps.relayStats()), { ...where, messages, oldestMs });
          doorbell.ring("messages");
        }
        return false;
      },
    },
    {
      name: "forget",
      everyMs: FORGET_EVERY_MS,
      firstMs: retention && FORGET_FIRST_MS,
      run: async () => {
        await trimMessages({ db, faults, carrier: carriedBy });
        await webhooks.forget();
        const forgotten = retention && (await retain(retention));
        if (forgotten !== undefined && Object.values(forgotten).some((count) => count > 0))
          log.info("old work was deleted by retention", { ...forgotten });
        return false;
      },
    },
  ];
};
