// Durables that other processes fetch from. This process would not notice that they are gone, so they are made again whenever the
// server may have lost them, without end.

import { type Backoff, backoff } from "@toolplane/protocol";
import type { CommandDurable } from "../bus.ts";
import type { Clock } from "../clock.ts";
import { planConsume } from "../consume-plan.ts";
import type { Log } from "../log.ts";
import { failureCode } from "./handling.ts";
import type { DurablePlan, NatsDurables } from "./nats-durables.ts";

export interface KeptDurables {
  add(durables: readonly CommandDurable[]): Promise<void>;
  forget(durable: string): void;
  /** The server may have lost them. */
  restore(): void;
  stop(): Promise<void>;
}

export interface KeptDurablesDeps {
  readonly durables: NatsDurables;
  readonly clock: Clock;
  readonly log: Log;
}

/** How many are made at once when many targets are registered. */
const AT_ONCE = 16;
const RETRY_MS: Backoff = { first: 100, longest: 5_000 };

const planDurable = ({ durable, pattern }: CommandDurable): DurablePlan => ({
  ...planConsume({ durable, pattern, category: "cmd" }),
  keepAckWait: true,
});

export const createKeptDurables = ({ durables, clock, log }: KeptDurablesDeps): KeptDurables => {
  const kept = new Map<string, DurablePlan>();
  const stopping = new AbortController();
  let restoring: Promise<void> | undefined;
  let again = false;

  const ensureOne = async (plan: DurablePlan): Promise<void> => {
    await durables.ensure(plan);
    kept.set(plan.durable, plan);
  };

  /** All that can be made; rejects when one could not. */
  const ensure = async (plans: readonly DurablePlan[]): Promise<void> => {
    const outcomes: PromiseSettledResult<void>[] = [];
    for (let at = 0; at < plans.length; at += AT_ONCE)
      outcomes.push(...(await Promise.allSettled(plans.slice(at, at + AT_ONCE).map(ensureOne))));
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason as Error;
  };

  const restoreAll = async (): Promise<void> => {
    let failures = 0;
    while (again && !stopping.signal.aborted) {
      again = false;
      try {
        await ensure([...kept.values()]);
      } catch (error) {
        again = true;
        log.warn("durables could not be made again", { code: failureCode(error) });
        await clock.sleep(backoff(RETRY_MS, ++failures), stopping.signal);
      }
    }
  };

  return {
    add: async (added) => ensure(added.map(planDurable)),
    forget: (durable) => {
      kept.delete(durable);
    },
    restore() {
      if (kept.size === 0) return;
      again = true;
      restoring ??= restoreAll().finally(() => {
        restoring = undefined;
      });
    },
    async stop() {
      stopping.abort();
      await restoring;
    },
  };
};
