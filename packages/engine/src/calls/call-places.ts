// Where calls go when they are written: to a service that waits for them in this process, as leased to it, or into the queue.
// Direct calls and the calls of a step come the same way.
//   CL1. A lease is written with the call, in the statement that makes it. The service hears of it after the commit.
//   CL2. If it is not known whether that was committed, what carries those leases goes back to the queue: no service has heard
//        of them.
//   CL3. Where a bus beside the database carries commands, the command of a call is left out when a service that waits here will take the
//        call, and no service fetches the commands of its target. If no service takes the call after all, a watchdog publishes its command (I13).

import type { CallObserver } from "../ports/call-observer.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import type { TargetKey } from "../sessions/session-targets.ts";
import type { CallFacts } from "./call.ts";
import { factsOfMade } from "./call-columns.sql.ts";
import type { DispatchedRow, DispatchRow } from "./dispatch.sql.ts";
import type { SayDropped } from "./dropped-arguments.ts";
import { firstLease, type Handover } from "./handover.ts";
import type { PlannedCall } from "./plan-call.ts";
import { type LeasedCall, leasedCall } from "./take-calls.ts";

export type PlacedCall = Pick<PlannedCall, "row" | "free" | "dropped"> & {
  /** True when the caller brought no trace. */
  readonly beginsTrace?: boolean | undefined;
};

/** Calls that are about to be written. The writer calls `tell` or `drop`, once. */
export interface Placement {
  /** The rows as they are to be written, in the order given. */
  readonly rows: readonly DispatchRow[];
  /** After the commit: observers are told, and services get their calls. */
  tell(written: readonly (DispatchedRow | undefined)[]): Promise<void>;
  /** Gives the places back, because the calls were not written, or because this is not known. */
  drop(isUnknown: boolean): void;
}

export interface CallPlaces {
  /** Before `place`, outside of a transaction: resolves when no service that stands here reads the queue of these targets. */
  calm(rows: readonly Pick<DispatchRow, "projectId" | "target">[]): Promise<void>;
  place(calls: readonly PlacedCall[]): Placement;
  /** After the commit: rings the bells for calls that stand in the queue. `isLimited`: limits hold some of them. */
  ring(queued: readonly DispatchRow[], isLimited: boolean): void;
}

export interface CallPlacesDeps {
  readonly ids: Ids;
  readonly observe: CallObserver;
  readonly faults: Faults;
  readonly doorbell: Doorbell;
  readonly leaseSeconds: number;
  readonly handover: Pick<Handover, "reserve" | "calm" | "attends">;
  /** Whether services fetch the commands of this target from a bus beside the database. */
  readonly isFetched: (key: TargetKey) => boolean;
  readonly remember: (leased: LeasedCall) => void;
  /** Facts of a call whose service will ask for it by its id, as one that takes commands from a bus does. */
  readonly expect: (facts: CallFacts) => void;
  /** Calls under these leases were never handed to a service. */
  readonly giveBack: (leaseIds: readonly string[]) => void;
  /** Calls stand in the queue of these targets. */
  readonly offer: (targets: readonly TargetKey[]) => void;
  /** The caller sent values that the definition sets itself. */
  readonly sayDropped: SayDropped;
}

const NEW = { isNew: true } as const;
const NEW_TRACE = { ...NEW, beginsTrace: true } as const;

export const createCallPlaces = (deps: CallPlacesDeps): CallPlaces => {
  const { faults } = deps;

  const leasedAtBirth = (row: DispatchRow, { leased, made_at }: DispatchedRow): LeasedCall | undefined => {
    if (!leased || row.leaseId === null) return undefined;
    const after = (seconds: number): Date => new Date(made_at.getTime() + seconds * 1_000);
    return leasedCall({
      facts: factsOfMade(row),
      lease: { id: row.leaseId, expiresAt: after(row.leaseSeconds ?? 0) },
      attempt: 1,
      runDeadline: after(row.timeoutSeconds),
      cardBody: row.cardBody,
      session: undefined,
      once: false,
    });
  };

  const tellOf = (
    row: DispatchRow,
    answer: DispatchedRow | undefined,
    call: PlacedCall | undefined,
  ): LeasedCall | undefined => {
    if (answer?.inserted !== true) return undefined;
    if (call !== undefined && call.dropped.length > 0) deps.sayDropped(row, call.dropped);
    deps.observe(row, call?.beginsTrace === true ? NEW_TRACE : NEW);
    const leased = leasedAtBirth(row, answer);
    if (leased === undefined) {
      if (row.commandPayload !== null) deps.expect(factsOfMade(row));
      return undefined;
    }
    deps.remember(leased);
    deps.observe({ ...row, status: "running" });
    return leased;
  };

  const needsCommand = (row: DispatchRow): boolean => row.plain || !deps.handover.attends(row) || deps.isFetched(row);

  return {
    calm: deps.handover.calm,
    place(calls) {
      const reservation = deps.handover.reserve(calls.map(({ row, free }) => ({ ...row, free })));
      const rows = calls.map(({ row: planned }, index): DispatchRow => {
        const isSent = planned.commandPayload === null || needsCommand(planned);
        const row = isSent ? planned : { ...planned, commandPayload: null };
        const leaseHolder = reservation.holders[index];
        if (leaseHolder === undefined) return row;
        const leaseSeconds = firstLease(deps.leaseSeconds, reservation.isUnwatched(index));
        return { ...row, leaseId: deps.ids.uuid(), leaseHolder, leaseSeconds };
      });
      const leaseIds = rows.flatMap(({ leaseId }) => leaseId ?? []);
      const drop = (isUnknown: boolean): void => {
        reservation.hand([]);
        if (isUnknown && leaseIds.length > 0) deps.giveBack(leaseIds);
      };
      return {
        rows,
        async tell(written) {
          try {
            if (leaseIds.length > 0) await faults.at("handover:before-telling");
          } catch (error) {
            drop(true);
            throw error;
          }
          reservation.hand(rows.map((row, index) => tellOf(row, written[index], calls[index])));
          deps.doorbell.ring("events", "here");
          if (leaseIds.length > 0) await faults.at("handover:after-telling");
        },
        drop,
      };
    },
    ring(queued, isLimited) {
      if (queued.length === 0) return;
      const isApart = isLimited || queued.some(({ session, pin }) => session !== null || pin !== null);
      // Calls of sessions, pinned and limited calls are looked for only where this bell said that there are some. The relay to a bus
      // beside the database has heard of the events already.
      if (isApart) {
        deps.doorbell.ring("sessions");
        return;
      }
      deps.offer(queued);
      deps.doorbell.ring("queued", "elsewhere");
    },
  };
};
