// The places in the queues of projects that have a `queue` limit. The lock is a statement of its own: a statement sees what was
// committed before it began, so the count must begin after the lock is held.

import { given, inputOf, type RowIn } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";

const limits = inputOf({
  projectId: given<string>("text"),
  queue: given<number>("integer"),
});

export type QueueLimit = RowIn<typeof limits>;

/** The call waits only for a service, not for its time or a person. */
export const IS_READY = "status = 'queued' and available_at <= now()";

/** Takes the locks of these queues; the transaction holds them until it ends. $1 projects, in the order in which all transactions take them. */
export const LOCK_QUEUES: Statement = {
  name: "gates.lock-queues",
  text: `
select pg_advisory_xact_lock(hashtextextended('toolplane queue ' || p.project_id, 0))
  from unnest($1::text[]) with ordinality as p (project_id, ord) order by p.ord`,
};

export interface QueueRow {
  readonly project_id: string;
  readonly queued: number;
  readonly ready: number;
}

/** How many calls of each project wait, for a service or for a person, counted up to its limit. */
export const COUNT_QUEUES: Statement = {
  name: "gates.count-queues",
  text: `
select i.project_id, q.queued, q.ready
  from ${limits.from}
 cross join lateral (
   select count(*)::int as queued, count(*) filter (where ${IS_READY})::int as ready
     from (select c.status, c.available_at from state.live_calls c
            where c.project_id = i.project_id and c.status in ('queued', 'awaiting_approval') limit i.queue) one
   offset 0) q`,
};

export const bindQueueLimits = limits.bind;
