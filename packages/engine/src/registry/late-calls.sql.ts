// Calls that were being written while a limit or a pause was set.

import { COMES_TO_GATE, PASS_SENT, TELL_PASSED_SENT } from "../calls/offer.sql.ts";
import type { Statement } from "../sql/database.ts";

export interface WriterRow {
  readonly writer: string;
}

/**
 * The transactions that write calls now, or those of $1 that still do. The server locks the tables of a statement before the statement reads
 * anything, and keeps the lock until the transaction ends.
 */
export const READ_CALL_WRITERS: Statement = {
  name: "calls.read-writers",
  text: `
select distinct l.virtualtransaction as writer
  from pg_locks l
 where l.locktype = 'relation' and l.relation = 'state.live_calls'::regclass and l.mode = 'RowExclusiveLock' and l.granted
   and l.database = (select d.oid from pg_database d where d.datname = current_database()) and l.pid <> pg_backend_pid()
   and ($1::text[] is null or l.virtualtransaction = any ($1::text[]))`,
};

/** The open calls of tools that have limits from now on pass their gates. In key order, the order in which all statements lock them. $1 project, $2 tools. */
export const GATE_CALLS: Statement = {
  name: "tools.gate-calls",
  text: `
with limited as materialized (
  select t.tool_name from resource.tools t where t.project_id = $1 and t.tool_name = any ($2::text[]) and t.limits is not null
),
found as materialized (
  select c.*, 1 as ord from state.live_calls c
   where c.project_id = $1 and c.tool_name = any (array(select tool_name from limited)) and c.gate is distinct from c.tool_name
     and ${COMES_TO_GATE}
   order by c.project_id, c.tool_call_id
     for update
),
told as (${TELL_PASSED_SENT}
)
update state.live_calls c set gate = c.tool_name, ${PASS_SENT}
  from found f where c.project_id = any (array[f.project_id]) and c.tool_call_id = f.tool_call_id`,
};

/** The open calls of a project that has a limit from now on pass its gate. In the same order. $1 project. */
export const GATE_PROJECT_CALLS: Statement = {
  name: "projects.gate-calls",
  text: `
with found as materialized (
  select c.*, 1 as ord from state.live_calls c
   where c.project_id = $1 and c.gate is null and starts_with(c.actor_id, 'tool.') and ${COMES_TO_GATE}
     and (select p.limits ?| array['concurrency', 'target_breaker'] from resource.projects p where p.project_id = $1)
   order by c.project_id, c.tool_call_id
     for update
),
told as (${TELL_PASSED_SENT}
)
update state.live_calls c set gate = '', ${PASS_SENT}
  from found f where c.project_id = any (array[f.project_id]) and c.tool_call_id = f.tool_call_id`,
};
