// Deleting a project with all it holds, in pieces: every statement removes a bounded number of rows of one table, so
// that a large project never holds locks for long and a broken connection loses at most one piece.

import type { Statement } from "../sql/database.ts";

export const HAS_OPEN_WORK: Statement = {
  name: "projects.has-open-work",
  text: `
select exists (select from state.live_calls where project_id = $1)
    or exists (select from state.turns where project_id = $1 and ended_at is null)
    or exists (select from state.heads where project_id = $1 and status <> 'idle') as open`,
};

export const CLOSE_PROJECT: Statement = {
  name: "projects.close",
  text: "update resource.projects set status = 'archived', updated_at = now() where project_id = $1",
};

// $1 project, $2 at most so many rows.
const sweep = (table: string): Statement => ({
  name: `projects.sweep-${table}`,
  text: `
with gone as (
  delete from ${table} where ctid = any (array(select ctid from ${table} where project_id = $1 limit $2::int)) returning 1
)
select count(*)::int as removed from gone`,
});

/** Calls first: without them nothing is offered any more. Boxes take their entries along, batches their tasks. */
export const SWEEPS: readonly Statement[] = [
  ...["live_calls", "past_calls", "call_keys", "call_leases", "call_diagnostics"].map((noun) => sweep(`state.${noun}`)),
  sweep("bus.messages"),
  sweep("bus.sent_events"),
  ...[
    "inbox",
    "turns",
    "steps",
    "edges",
    "identity_edges",
    "batches",
    "heads",
    "dead_letters",
    "sessions",
    "tombstones",
    "webhook_deliveries",
  ].map((noun) => sweep(`state.${noun}`)),
  sweep("cards.boxes"),
  sweep("cards.cards"),
];

export const DELETE_PROJECT: Statement = {
  name: "projects.delete",
  text: "delete from resource.projects where project_id = $1 returning project_id",
};
