// The write of a flush of direct calls: one statement, and for calls of projects with a `queue` limit a transaction that counts their
// queues first (QP1). The retries that an operator asked for are written down in the audit with the calls.

import { isToolplaneError } from "@toolplane/protocol";
import { type Act, type Actor, recordActsOf } from "../audit/audit.ts";
import type { Admission } from "../gates/admission.ts";
import { type QueueLimits, takeQueuePlaces } from "../gates/queue-places.ts";
import type { Database, Queryer, Statement } from "../sql/database.ts";
import {
  answersOf,
  bindDispatch,
  DISPATCH,
  type DispatchedRow,
  type DispatchRow,
  dispatchOfNew,
} from "./dispatch.sql.ts";
import type { Pending } from "./dispatch-outcome.ts";

export interface WriteCallsDeps {
  readonly db: Database;
  readonly admission: Pick<Admission, "queueLimits" | "queueFull">;
  readonly republishSeconds: number | null;
}

/** One for each call. undefined: it could not be made as it was planned, or found no place in the queue of its project, which its outcome says. */
type Written = readonly (DispatchedRow | undefined)[];

const UNIQUE_VIOLATION = "23505";

/** One of the calls, or the card that goes with it, is there already. */
const isTaken = (error: unknown): boolean =>
  isToolplaneError(error) && (error.detail?.sqlstate === UNIQUE_VIOLATION || error.code === "conflict");

const retriesOf = (items: readonly Pending[]): (Act & { readonly by: Actor })[] =>
  items.flatMap(({ request: { actor: by, projectId, retryOf, toolName }, toolCallId }) => {
    if (by === undefined || retryOf === undefined) return [];
    const detail = { tool_name: toolName, retried_as: toolCallId };
    return [{ by, projectId, act: "call.retried", subject: retryOf, detail }];
  });

const rowOf = (item: Pending): DispatchRow => item.row as DispatchRow;

const writeAll = async (
  deps: WriteCallsDeps,
  db: Queryer,
  statement: Statement,
  items: readonly Pending[],
): Promise<Written> =>
  answersOf(items, await db.query<DispatchedRow>(statement, bindDispatch(items.map(rowOf), deps.republishSeconds)));

const writePlaced = async (
  deps: WriteCallsDeps,
  tx: Queryer,
  statement: Statement,
  items: readonly Pending[],
  limits: QueueLimits,
): Promise<Written> => {
  const verdicts = await takeQueuePlaces(tx, items.map(rowOf), limits);
  for (const [index, item] of items.entries()) {
    const { projectId } = item.request;
    item.outcome =
      verdicts[index] === "placed"
        ? undefined
        : deps.admission.queueFull(projectId, limits.get(projectId) ?? 0, verdicts[index] === "full");
  }
  const placed = items.filter((_, index) => verdicts[index] === "placed");
  const rows = placed.length === 0 ? [] : await writeAll(deps, tx, statement, placed);
  const written = new Map(placed.map((item, index) => [item, rows[index]]));
  return items.map((item) => written.get(item));
};

/** Without keys all are new, unless an earlier run of this flush has written them; keys are often sent twice. */
const writeGroup = async (deps: WriteCallsDeps, items: readonly Pending[], limits: QueueLimits): Promise<Written> => {
  const isAudited = items.some(({ request }) => request.actor !== undefined);
  const run = (statement: Statement): Promise<Written> =>
    isAudited || limits.size > 0
      ? deps.db.transaction(async (tx) => {
          const written = await writePlaced(deps, tx, statement, items, limits);
          await recordActsOf(tx, retriesOf(items.filter((_, index) => written[index]?.inserted === true)));
          return written;
        })
      : writeAll(deps, deps.db, statement, items);
  if (items.every((item) => rowOf(item).idempotencyKey === null)) {
    try {
      return await run(dispatchOfNew(items.map(rowOf)));
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
  return run(DISPATCH);
};

/** Calls of projects without a `queue` limit are written first: they do not wait for the lock of another project's queue. */
export const writeCalls = async (deps: WriteCallsDeps, items: readonly Pending[]): Promise<Written> => {
  const limits = await deps.admission.queueLimits(items.map(({ request }) => request.projectId));
  if (limits.size === 0) return writeGroup(deps, items, limits);
  const [held = [], free = []] = [true, false].map((isHeld) =>
    items.filter(({ request }) => limits.has(request.projectId) === isHeld),
  );
  const written = new Map<Pending, DispatchedRow | undefined>();
  for (const [group, of] of [
    [free, new Map()],
    [held, limits],
  ] as const) {
    const rows = group.length === 0 ? [] : await writeGroup(deps, group, of);
    for (const [index, item] of group.entries()) written.set(item, rows[index]);
  }
  return items.map((item) => written.get(item));
};
