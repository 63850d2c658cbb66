// Which new calls still find a place in the queue of a project with a `queue` limit, decided in the transaction that writes them.
//   QP1. The transaction holds the lock of the project's queue until it ends. So requests that arrive together are counted one after
//        the other, in all processes, and the limit is never passed.
//   QP2. All transactions take the locks in one order, and before they wait for anything that another one may hold.
//   QP3. A transaction without calls of a limited project runs no statement for this.

import type { Queryer } from "../sql/database.ts";
import { bindQueueLimits, COUNT_QUEUES, LOCK_QUEUES, type QueueLimit, type QueueRow } from "./queue-places.sql.ts";

/** The `queue` limits by project; a project without one is not in it. */
export type QueueLimits = ReadonlyMap<string, number>;

export interface NewCall {
  readonly projectId: string;
}

/**
 * Whether a call finds a place in the queue of its project. `full`: no place, but a queued call could start now. `stuck`: no place, and no queued
 * call could start.
 */
export type QueueVerdict = "placed" | "full" | "stuck";

/** In the order given. A call that waits for a person needs a place too. Pure. */
const planQueuePlaces = (
  calls: readonly NewCall[],
  limits: QueueLimits,
  rows: readonly QueueRow[],
): readonly QueueVerdict[] => {
  const taken = new Map(rows.map((row) => [row.project_id, row.queued]));
  // Calls that are placed now are as new as the refused ones: the queue moves.
  const stuck = new Set(rows.flatMap((row) => (row.ready === 0 ? [row.project_id] : [])));
  return calls.map(({ projectId }) => {
    const limit = limits.get(projectId);
    if (limit === undefined) return "placed";
    const before = taken.get(projectId) ?? 0;
    if (before >= limit) return stuck.has(projectId) ? "stuck" : "full";
    taken.set(projectId, before + 1);
    stuck.delete(projectId);
    return "placed";
  });
};

const compare = (a: QueueLimit, b: QueueLimit): number => (a.projectId < b.projectId ? -1 : 1);

/** Holds the queues of the limited projects among these calls until the transaction ends. */
export const takeQueuePlaces = async (
  tx: Queryer,
  calls: readonly NewCall[],
  limits: QueueLimits,
): Promise<readonly QueueVerdict[]> => {
  const named = new Set(calls.map(({ projectId }) => projectId));
  const held = [...limits].flatMap(([projectId, queue]) => (named.has(projectId) ? [{ projectId, queue }] : []));
  if (held.length === 0) return calls.map(() => "placed");
  held.sort(compare);
  await tx.query(LOCK_QUEUES, [held.map(({ projectId }) => projectId)]);
  const rows = await tx.query<QueueRow>(COUNT_QUEUES, bindQueueLimits(held));
  return planQueuePlaces(calls, limits, rows);
};
