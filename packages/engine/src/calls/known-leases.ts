// The leases that this process has given or extended. Parts of a running call are checked against them, so that a part costs no
// statement. A remembered lease counts until it would have lapsed; then, and for an unknown lease, the database is asked.
// Heartbeat, release and settlement do not use this memory: the database decides about them.

import { ToolplaneError } from "@toolplane/protocol";
import type { Clock } from "../ports/clock.ts";
import { createLeastRecentlyUsed } from "../registry/least-recently-used.ts";
import { type CallFacts, type CallKey, type CallView, callKey } from "./call.ts";

export interface Lease {
  readonly id: string;
  readonly expiresAt: Date;
}

export interface KnownLeases {
  remember(key: CallKey, lease: Lease): void;
  forget(key: CallKey): void;
  /** Refuses unless this is the live lease of the call, or the call belongs to a plain service, which takes none. */
  check(facts: CallFacts, leaseId: string | undefined): Promise<void>;
}

export interface KnownLeasesDeps {
  readonly clock: Pick<Clock, "now">;
  readonly read: (key: CallKey) => Promise<CallView>;
}

// Some hundred bytes each.
const MAX_REMEMBERED = 4_096;

const notHeld = ({ toolCallId }: CallKey, leaseId: string | undefined): ToolplaneError =>
  new ToolplaneError(
    "lease_lost",
    leaseId === undefined
      ? `call ${toolCallId} is run under a lease: send it with the parts`
      : `this is not the lease call ${toolCallId} is run under; stop working on it`,
  );

export const createKnownLeases = ({ clock, read }: KnownLeasesDeps): KnownLeases => {
  const known = createLeastRecentlyUsed<Lease>(MAX_REMEMBERED);
  return {
    remember: (key, lease) => known.set(callKey(key), lease),
    forget: (key) => known.delete(callKey(key)),
    async check(facts, leaseId) {
      if (leaseId === undefined) {
        if (facts.plain) return;
        throw notHeld(facts, leaseId);
      }
      const lease = known.get(callKey(facts));
      if (lease?.id === leaseId && lease.expiresAt.getTime() > clock.now()) return;
      const { status, leaseId: held, leaseExpiresAt } = await read(facts);
      if (status !== "running" || held !== leaseId) throw notHeld(facts, leaseId);
      known.set(callKey(facts), { id: leaseId, expiresAt: leaseExpiresAt ?? new Date(0) });
    },
  };
};
