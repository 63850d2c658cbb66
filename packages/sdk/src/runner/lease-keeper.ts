// Keeps a lease alive while a call runs, and passes on what the heartbeats learn.
//   LK1. A heartbeat is sent every third of the lease: two may be lost before the lease ends.
//        A call that was handed over under a short lease is confirmed soon: until then an outage of the plane of a few seconds ends
//        its lease. A call that ends before that needs no heartbeat.
//   LK2. A plane that cannot be reached does not mean a lost lease. Heartbeats are retried until the lease's own end.
//   LK3. `cancel` ends the run as canceled; a refusal (lease_lost and its kin) ends it as lost.

import { ToolplaneError, understandError } from "@toolplane/protocol";
import type { HeldCall, Lease, ToolGateway } from "../gateway/gateway.ts";
import { mayPass } from "../gateway/patience.ts";
import { type Clock, inTime, LATE, WAIT_OVER } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { RunSignal } from "./run-signal.ts";

export interface LeaseKeeper {
  /** When the lease ends as far as is known. */
  expiresAt(): number;
  /** Renews now. Never rejects: what it learns goes to the run's signal too. */
  beat(): Promise<BeatVerdict>;
  stop(): void;
}

export interface LeaseKeeperDeps {
  readonly gateway: Pick<ToolGateway, "heartbeat">;
  readonly clock: Clock;
  readonly log: Log;
  readonly run: RunSignal;
  readonly held: HeldCall;
  readonly lease: Lease;
}

/** A server that gives very short leases must not make us poll in a tight loop. */
const MIN_INTERVAL_MS = 50;

/** When the first heartbeat of a short lease (five seconds) is sent. Most calls have ended by then and need none. */
const CONFIRM_MS = 500;

/** How long until the next heartbeat: a third of what is left after a success, a ninth after a failure. */
export const planBeat = (leftMs: number, failed: boolean): number =>
  Math.max(MIN_INTERVAL_MS, Math.floor(leftMs / (failed ? 9 : 3)));

export type BeatVerdict = "renewed" | "canceled" | "lost" | "unreached";

export const judgeBeatError = (error: ToolplaneError): BeatVerdict => (mayPass(error) ? "unreached" : "lost");

export const createLeaseKeeper = (deps: LeaseKeeperDeps): LeaseKeeper => {
  const { gateway, clock, run, held, log } = deps;
  const stopped = new AbortController();
  let expiresAt = deps.lease.expiresAt;
  let failing = false;

  /** When no answer has come by the end of the lease, the lease is over, even if the gateway never gives up. */
  const whileLeased = async <T>(work: Promise<T>): Promise<T> => {
    const answer = await inTime(clock, Math.max(expiresAt - clock.now(), MIN_INTERVAL_MS), work);
    if (answer !== LATE) return answer;
    throw new ToolplaneError("upstream_unavailable", "no answer to a heartbeat while the lease lasted");
  };

  const tryBeat = async (): Promise<BeatVerdict> => {
    try {
      const beat = await whileLeased(gateway.heartbeat(held, { signal: stopped.signal }));
      if (beat.cancel) return "canceled";
      if (failing) log.info("heartbeats arrive again");
      failing = false;
      expiresAt = beat.expiresAt;
      return "renewed";
    } catch (thrown) {
      if (stopped.signal.aborted) return "unreached";
      const error = understandError(thrown);
      // Logged once when it begins; later failures say nothing new.
      if (!failing) log.warn("a heartbeat failed", { code: error.code, reason: error.message });
      failing = true;
      return judgeBeatError(error);
    }
  };

  const apply = (verdict: BeatVerdict): void => {
    if (stopped.signal.aborted) return;
    if (verdict === "canceled" || verdict === "lost") run.end(verdict);
    else if (verdict === "unreached" && clock.now() >= expiresAt) run.end("expired");
  };

  const loop = async (): Promise<void> => {
    if (deps.lease.isShort === true) {
      await clock.sleep(Math.min(CONFIRM_MS, planBeat(expiresAt - clock.now(), false)), stopped.signal);
      if (stopped.signal.aborted) return;
      apply(await tryBeat());
    }
    while (!stopped.signal.aborted && !run.unwanted.aborted) {
      await clock.sleep(planBeat(expiresAt - clock.now(), failing), stopped.signal);
      if (stopped.signal.aborted) return;
      apply(await tryBeat());
    }
  };

  void loop();
  return {
    expiresAt: () => expiresAt,
    beat: async () => {
      const verdict = await tryBeat();
      apply(verdict);
      return verdict;
    },
    stop: () => stopped.abort(WAIT_OVER),
  };
};
