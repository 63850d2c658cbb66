// Everything the database holds, as one text.

/** Every row of every table of ours, one text per table. Binary columns appear in hex. */
export const EVERY_ROW = `
  select table_schema || '.' || table_name as name,
    query_to_xml(format('select * from %I.%I', table_schema, table_name), true, false, '')::text as text
  from information_schema.tables
  where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
  order by 1`;
