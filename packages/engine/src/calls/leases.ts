// Leases: lease by id, heartbeat, release; claims are in claims.ts. A lease is a service's time-limited right to run a call. A leased
// call counts as started, so a service takes only calls that it runs at once.
//   I6. The lease id on the row is the fence: a new holder replaces it, and from then on the old holder can do nothing.
//   Calls of one session run one after the other: the statements take one at a time, and an index guarantees it.

import { ToolplaneError } from "@toolplane/protocol";
import { type Coalescer, createCoalescer } from "../coalescer/coalescer.ts";
import type { LingeringRuns } from "../gates/lingering-runs.ts";
import { type CallKey, type CallView, callKey, isSettled } from "./call.ts";
import { type ClaimDeps, createClaims, type LineRequest } from "./claims.ts";
import { bindHeld, bindLeases, bindRelease, HEARTBEAT, LEASE, type LeaseRow, RECALL, RELEASE } from "./lease.sql.ts";
import { bindKeys, READ_CALLS, type ViewRow, viewOf } from "./read.sql.ts";
import {
  createTakeCalls,
  type LeasedCall,
  type LeasedRow,
  leasedOf,
  type TakeCalls,
  type TakeDeps,
} from "./take-calls.ts";

export interface LeaseRequest extends CallKey {
  readonly agentTurnId: string;
  readonly callCardId: string;
  readonly holder: string;
  /** The target it was queued for, when known: then a service that is refused counts as one that asks for work. */
  readonly target?: string | undefined;
  /** As in a claim. */
  readonly definitions?: readonly string[] | undefined;
  /** The caller's own mark of this request: asked again under it, because the answer was lost, the lease is the same. */
  readonly ticket?: string | undefined;
}

export interface Held extends CallKey {
  readonly leaseId: string;
}

export interface Beat {
  readonly expiresAt: Date | null;
  /** The call is over (canceled, timed out, stopped): abort the work. */
  readonly cancel: boolean;
}

interface KeptRow {
  readonly ord: number;
  readonly lease_expires_at: Date;
}

export interface LeaseDeps extends Omit<TakeDeps, "release">, Omit<ClaimDeps, keyof TakeCalls> {
  readonly republishSeconds: number | null;
  readonly lingering: LingeringRuns;
}

export interface Leases {
  readonly claim: Coalescer<LineRequest, readonly LeasedCall[]>;
  readonly lease: Coalescer<LeaseRequest, LeasedCall>;
  readonly heartbeat: Coalescer<Held, Beat>;
  readonly release: Coalescer<Held, void>;
}

const lost = (held: CallKey, view: CallView | undefined): ToolplaneError => {
  if (view === undefined) return new ToolplaneError("not_found", `there is no call ${held.toolCallId} in this project`);
  const now = isSettled(view.status)
    ? `it has settled (${view.status})`
    : view.leaseId === null
      ? "no service holds it"
      : "another service holds it";
  return new ToolplaneError("lease_lost", `the lease on call ${held.toolCallId} is gone: ${now}; stop working on it`);
};

/** Why a call could not be leased: `queued` in the detail means that it can be tried again later. */
const unleased = (
  request: LeaseRequest,
  view: CallView | undefined,
  retryAfterMs: number | undefined,
): ToolplaneError => {
  const { toolCallId, agentTurnId, callCardId } = request;
  // Another turn or card: this is not the call that was asked for, although it has its id.
  if (view === undefined || view.agentTurnId !== agentTurnId || view.callCardId !== callCardId)
    return new ToolplaneError("lease_lost", `there is no call ${toolCallId} of this turn and card; forget the command`);
  const { status } = view;
  const why =
    status === "queued"
      ? "it is not due yet, its session is busy, a limit holds it, or it is pinned to a definition that this service does not name; try again later"
      : isSettled(status)
        ? `it has settled (${status}); forget the command`
        : `it is ${status}; forget the command`;
  return new ToolplaneError("lease_lost", `call ${toolCallId} cannot be leased: ${why}`, {
    detail: {
      status,
      ...(status === "queued" && retryAfterMs !== undefined ? { retry_after_ms: Math.ceil(retryAfterMs) } : {}),
    },
  });
};

/** Settled by another party while this holder had it (cancel, stop, deadline): the lease id is still the holder's. */
const hasEnded = ({ leaseId }: Held, view: CallView | undefined): boolean =>
  view !== undefined && isSettled(view.status) && view.leaseId === leaseId;

const endedInHands = (items: readonly Held[], views: ReadonlyMap<string, CallView>): readonly Held[] =>
  items.filter((item) => hasEnded(item, views.get(callKey(item))));

export const createLeases = (deps: LeaseDeps): Leases => {
  const { db, faults, ids, leaseSeconds, runnablePins, gates, lingering } = deps;
  const { take, deal } = createTakeCalls({
    ...deps,
    // If it fails, the lease lapses.
    release: (held) => void release.submit(held).catch(() => {}),
  });
  const claim = createClaims({ ...deps, take, deal });

  /** The state of calls whose lease was not what the caller thought, by key. */
  const readLost = async (items: readonly CallKey[]): Promise<ReadonlyMap<string, CallView>> => {
    if (items.length === 0) return new Map();
    const rows = await db.query<ViewRow>(READ_CALLS, bindKeys(items));
    return new Map(rows.map(viewOf).map((view) => [callKey(view), view]));
  };

  /** With the call's id: one ticket for several calls must not give them the same lease. */
  const leaseIdOf = ({ ticket, toolCallId }: LeaseRequest): string =>
    ticket === undefined ? ids.uuid() : `${ticket}:${toolCallId}`;

  /** What these requests took when they were sent before. */
  const recall = async (leaseIds: readonly string[]): Promise<ReadonlyMap<string, LeasedCall>> => {
    if (leaseIds.length === 0) return new Map();
    const rows = await db.query<LeasedRow>(RECALL, [leaseIds]);
    return new Map(rows.map(leasedOf).map((call) => [call.lease.id, call]));
  };

  /** Tries the calls that the first statement refused again, as limited calls: they need the count of their gate. */
  const leaseLimited = async (rows: readonly LeaseRow[], perItem: LeasedCall[][]): Promise<void> => {
    const places = rows.flatMap((_, index) => (perItem[index]?.length === 0 ? [index] : []));
    if (places.length === 0) return;
    const asking = places.map((index) => rows[index] as LeaseRow);
    const calls = deal(
      await take(
        () => gates.lease(asking),
        asking.map(({ leaseId }) => leaseId),
      ),
      asking.length,
    );
    for (const [place, index] of places.entries()) perItem[index]?.push(...(calls[place] ?? []));
  };

  const lease = createCoalescer<LeaseRequest, LeasedCall>({
    keyOf: callKey,
    flush: async (items) => {
      const rows = await Promise.all(
        items.map(async (item) => ({
          ...item,
          leaseId: leaseIdOf(item),
          leaseSeconds,
          pins: await runnablePins.find(item.projectId, item.definitions),
        })),
      );
      const leaseIds = rows.map((row) => row.leaseId);
      const perItem = deal(await take(() => db.query<LeasedRow>(LEASE, bindLeases(rows)), leaseIds), items.length);
      await leaseLimited(rows, perItem);
      const refused = rows.filter((_, index) => perItem[index]?.length === 0);
      const views = await readLost(refused);
      const isOurs = (row: (typeof rows)[number]): boolean => {
        const view = views.get(callKey(row));
        return view?.leaseId === row.leaseId && view.agentTurnId === row.agentTurnId;
      };
      const recalled = await recall(refused.filter(isOurs).map((row) => row.leaseId));
      return rows.map(
        (row, index) =>
          perItem[index]?.[0] ??
          recalled.get(row.leaseId) ??
          unleased(row, views.get(callKey(row)), gates.askAgainIn(row)),
      );
    },
  });

  const heartbeat = createCoalescer<Held, Beat>({
    keyOf: callKey,
    flush: async (items) => {
      await faults.at("heartbeat:before-commit");
      const rows = await db.query<KeptRow>(HEARTBEAT, bindHeld(items.map((item) => ({ ...item, leaseSeconds }))));
      await faults.at("heartbeat:after-commit");
      const kept = new Map(rows.map((row) => [items[row.ord - 1], row.lease_expires_at]));
      const views = await readLost(items.filter((item) => !kept.has(item)));
      await lingering.beaten(endedInHands(items, views), leaseSeconds);
      return items.map((item): Beat | Error => {
        const expiresAt = kept.get(item);
        if (expiresAt !== undefined) return { expiresAt, cancel: false };
        const view = views.get(callKey(item));
        if (hasEnded(item, view)) return { expiresAt: null, cancel: true };
        return lost(item, view);
      });
    },
  });

  const release = createCoalescer<Held, void>({
    keyOf: callKey,
    flush: async (items) => {
      await faults.at("release:before-commit");
      const rows = await db.query<{ ord: number }>(
        RELEASE,
        bindRelease(
          items.map((item) => ({ ...item, leaseSeconds })),
          deps.republishSeconds,
        ),
      );
      await faults.at("release:after-commit");
      const given = new Set(rows.map((row) => items[row.ord - 1]));
      if (given.size > 0) deps.doorbell.ring("sessions");
      if (given.size > 0) deps.doorbell.ring("events", "here");
      const views = await readLost(items.filter((item) => !given.has(item)));
      await lingering.over(endedInHands(items, views));
      return items.map((item) => (given.has(item) ? undefined : lost(item, views.get(callKey(item)))));
    },
  });

  return { claim, lease, heartbeat, release };
};
