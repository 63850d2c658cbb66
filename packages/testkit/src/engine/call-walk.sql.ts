// What tests ask the database directly, past the engine.

export const ENGINE_TABLES = `
select format('%I.%I', table_schema, table_name) as name
  from information_schema.tables
 where table_schema in ('resource', 'cards', 'state', 'bus') and table_type = 'BASE TABLE'
 order by 1`;

/** `table` is one of ENGINE_TABLES, quoted by the server itself. */
export const fingerprintOf = (table: string): string =>
  `select count(*) || ':' || coalesce(md5(string_agg(md5(t::text), '' order by md5(t::text))), '') as print from ${table} t`;
