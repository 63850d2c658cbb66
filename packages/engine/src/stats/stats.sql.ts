// Counts of live calls only. The condition is true for all of them and leads the planner to the right index.

import type { Statement } from "../sql/database.ts";

export const DATABASE_NOW: Statement = {
  name: "stats.now",
  text: "select extract(epoch from now()) * 1000 as ms",
};

/** $1 rows that are read at most; beyond it the counts are "at least". The largest groups first. */
export const QUEUE_DEPTHS: Statement = {
  name: "stats.queue-depths",
  text: `
select target, status, count(*)::int as calls, count(gate)::int as limited,
       extract(epoch from now() - min(created_at))::float8 as oldest_seconds
  from (select target, status, gate, created_at from state.live_calls where due_at < 'infinity' limit $1::int) c
 group by target, status
 order by calls desc, target, status
 limit 200`,
};

export interface QueueDepthRow {
  readonly target: string;
  readonly status: "queued" | "running" | "awaiting_approval";
  readonly calls: number;
  /** Of these, calls that a limit of their tool or project holds. */
  readonly limited: number;
  readonly oldest_seconds: number;
}

/** $1 rows that are read at most: one for each limited tool and project. */
export const OPEN_BREAKERS: Statement = {
  name: "stats.open-breakers",
  text: `
select count(*) filter (where open_until > now())::int as open
  from (select open_until from state.gates where project_id > '' limit $1::int) g`,
};

/** $1 rows that are read at most. Messages that could have left for the bus beside the database and have not. */
export const OUTBOX_DEPTH: Statement = {
  name: "stats.outbox-depth",
  text: `
select count(*)::int as messages, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest_seconds
  from (select created_at from bus.messages where available_at <= now() order by available_at, id limit $1::int) m`,
};

export interface OutboxDepthRow {
  readonly messages: number;
  readonly oldest_seconds: number;
}
