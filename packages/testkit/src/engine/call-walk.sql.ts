// What tests ask the database directly, past the engine.

export const ENGINE_TABLES = `
select format('%I.%I', table_schema, table_name) as name
  from information_schema.tables
 where table_schema in ('resource', 'cards', 'state', 'bus') and table_type = 'BASE TABLE'
 order by 1`;

/** `table` is one of ENGINE_TABLES, quoted by the server itself. */
export const fingerprintOf = (table: string): string =>
  `select count(*) || ':' || coalesce(md5(string_agg(md5(t::text), '' order by md5(t::text))), '') as print from ${table} t`;

const PAST = "now() - interval '1 second'";

export const LET_PASS = {
  lease: `update state.live_calls set lease_expires_at = ${PAST}, due_at = ${PAST} where tool_call_id = $1`,
  run: `update state.live_calls set run_deadline = ${PAST}, due_at = ${PAST} where tool_call_id = $1`,
  queue: `update state.live_calls set queue_deadline = ${PAST}, due_at = ${PAST} where tool_call_id = $1`,
  due: `update state.live_calls set due_at = ${PAST} where tool_call_id = $1`,
} as const;
