// The leases that this process has given or extended. Parts of a running call are checked against them, so that a part costs no
// statement. A remembered lease counts until it would have lapsed; then, and for an unknown lease, the database is asked.
// Heartbeat, release and settlement do not use this memory: the database decides about them.

import { ToolplaneError } from "@toolplane/protocol";
import type { Clock } from "../ports/clock.ts";
import { createRecent } from "../recent/recent.ts";
import { type CallFacts, type CallKey, type CallView, callKey, isSettled } from "./call.ts";
import { planNotDue } from "./not-due.ts";

export interface Lease {
  readonly id: string;
  readonly expiresAt: Date;
}

export interface KnownLeases {
  remember(key: CallKey, lease: Lease): void;
  forget(key: CallKey): void;
  /** Refuses unless this is the live lease of the call, or the call is of a plain service, which takes none, and can run. */
  check(facts: CallFacts, leaseId: string | undefined): Promise<void>;
}

export interface KnownLeasesDeps {
  readonly clock: Pick<Clock, "now">;
  readonly read: (key: CallKey) => Promise<CallView>;
}

// An entry takes some hundred bytes.
const MAX_REMEMBERED = 4_096;

const notHeld = ({ toolCallId }: CallKey, leaseId: string | undefined): ToolplaneError =>
  new ToolplaneError(
    "lease_lost",
    leaseId === undefined
      ? `call ${toolCallId} is run under a lease: send it with the parts`
      : `this is not the lease call ${toolCallId} is run under; stop working on it`,
  );

/** A plain service takes no lease. That its call may run is remembered for a moment, under this id. */
const NO_LEASE = "";
const PLAIN_MEMORY_MS = 1_000;

const refuseUnlessOpen = (view: CallView, nowMs: number): void => {
  const notDue = planNotDue(view, null, nowMs);
  if (notDue !== undefined) throw notDue;
  if (isSettled(view.status))
    throw new ToolplaneError(
      "already_settled",
      `call ${view.toolCallId} has settled (${view.status}): it has no more parts`,
    );
};

export const createKnownLeases = ({ clock, read }: KnownLeasesDeps): KnownLeases => {
  const known = createRecent<Lease>(MAX_REMEMBERED);
  return {
    remember: (key, lease) => known.set(callKey(key), lease),
    forget: (key) => known.delete(callKey(key)),
    async check(facts, leaseId) {
      const lease = known.get(callKey(facts));
      if (leaseId === undefined) {
        if (!facts.plain) throw notHeld(facts, leaseId);
        if (lease?.id === NO_LEASE && lease.expiresAt.getTime() > clock.now()) return;
        refuseUnlessOpen(await read(facts), clock.now());
        known.set(callKey(facts), { id: NO_LEASE, expiresAt: new Date(clock.now() + PLAIN_MEMORY_MS) });
        return;
      }
      if (lease?.id === leaseId && lease.expiresAt.getTime() > clock.now()) return;
      const { status, leaseId: held, leaseExpiresAt } = await read(facts);
      if (status !== "running" || held !== leaseId) throw notHeld(facts, leaseId);
      known.set(callKey(facts), { id: leaseId, expiresAt: leaseExpiresAt ?? new Date(0) });
    },
  };
};
