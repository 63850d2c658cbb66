// Counts of live calls only. The condition is true for all of them and leads the planner to the right index.

import type { Statement } from "../sql/database.ts";

export const COUNT_LIVE: Statement = {
  name: "stats.live-calls",
  text: `
select count(*) filter (where status = 'queued')::int as queued,
       count(*) filter (where status = 'running')::int as running,
       count(*) filter (where status = 'awaiting_approval')::int as awaiting_approval,
       count(*) filter (where due_at <= now())::int as overdue,
       extract(epoch from now() - min(created_at) filter (where status = 'queued'))::float8 as oldest_queued_seconds
  from state.live_calls where due_at < 'infinity'`,
};

export const DATABASE_NOW: Statement = {
  name: "stats.now",
  text: "select extract(epoch from now()) * 1000 as ms",
};

export interface LiveCallsRow {
  readonly queued: number;
  readonly running: number;
  readonly awaiting_approval: number;
  readonly overdue: number;
  readonly oldest_queued_seconds: number | null;
}
