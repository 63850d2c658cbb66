// Work whose result comes later. The service that runs a call gives its lease to another holder that will settle it - a batch -
// in the transaction that stores that holder. From then on only the new holder may settle (I6), and the deadline moves with the
// lease: the caller waits as long as the work takes (W-26).
//   PK1. Everything a run writes for its call is written under `holdCall`: a run that lost its lease writes nothing, and two
//        runs of one call never write at once.
//   PK2. A parked call still settles if its holder never comes: the watchdog ends it at its deadline (I1).

import { ToolplaneError } from "@toolplane/protocol";
import type { Queryer } from "../sql/database.ts";
import type { CallKey } from "./call.ts";
import type { Held } from "./leases.ts";
import { HOLD_CALL, PARK_CALL } from "./park.sql.ts";

export interface HeldCall {
  /** As the engine computed it when the call was made (I9). */
  readonly recursionDepth: number;
}

export interface ParkRequest extends Held {
  /** The lease of the holder that settles it. */
  readonly newLeaseId: string;
  readonly newHolder: string;
  readonly seconds: number;
}

interface HoldRow {
  readonly status: string;
  readonly lease_id: string | null;
  readonly recursion_depth: number;
}

const lost = ({ toolCallId }: CallKey): ToolplaneError =>
  new ToolplaneError("lease_lost", `the lease on call ${toolCallId} is gone; stop working on it`);

/** Locks the call until the transaction ends; `lease_lost` unless it runs under this lease. */
export const holdCall = async (tx: Queryer, held: Held): Promise<HeldCall> => {
  const [row] = await tx.query<HoldRow>(HOLD_CALL, [held.projectId, held.toolCallId]);
  if (row === undefined || row.status !== "running" || row.lease_id !== held.leaseId) throw lost(held);
  return { recursionDepth: row.recursion_depth };
};

export const parkCall = async (tx: Queryer, request: ParkRequest): Promise<void> => {
  const { projectId, toolCallId, leaseId, newLeaseId, newHolder, seconds } = request;
  const parked = await tx.query(PARK_CALL, [projectId, toolCallId, leaseId, newLeaseId, newHolder, seconds]);
  if (parked.length === 0) throw lost(request);
};
