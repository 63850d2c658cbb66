// Slots of runs whose call has ended: it was canceled, stopped with its turn, or out of time while a service ran it. The call has its result at
// once, but the tool may still run.
//   LR1. The statement that settles the call writes the run down (`KEEP_SLOTS`), and only for a limited call that is in the hands of a service.
//   LR2. The slot is free when the service says that the run is over, by a result (which is refused) or by giving the call back. When it says
//        nothing, the slot is free at the end of its lease. The gate knows that time, so waiting claims wake then (plan-room.ts).
//   LR3. A heartbeat, which learns here that the call is over, keeps the slot for another lease, at most up to the deadline of the run.

import type { Ground } from "../ports/ground.ts";
import { bindLingering, FREE_SLOTS, KEEP_LINGERING, type LingeringRow } from "./lingering-runs.sql.ts";

export interface LingeringRuns {
  /** Frees the slots of runs whose services say that they are over. Runs that hold no slot are ignored. */
  over(runs: readonly LingeringRow[]): Promise<void>;
  /** Keeps the slots of runs whose services still have them and were told that the calls have ended (LR3). */
  beaten(runs: readonly LingeringRow[], leaseSeconds: number): Promise<void>;
}

export const createLingeringRuns = ({ db, doorbell }: Pick<Ground, "db" | "doorbell">): LingeringRuns => ({
  async over(runs) {
    if (runs.length === 0) return;
    const freed = await db.query(FREE_SLOTS, bindLingering(runs));
    if (freed.length > 0) doorbell.ring("sessions");
  },
  async beaten(runs, leaseSeconds) {
    if (runs.length > 0) await db.query(KEEP_LINGERING, [...bindLingering(runs), leaseSeconds]);
  },
});
