// Statements that bring the rows of an earlier version back.

import { UsageError } from "@toolplane/protocol";

export const CREATE_MIGRATIONS = `
create table public.toolplane_migrations (
  number integer primary key, name text not null, hash text not null, applied_at timestamptz not null default now())`;

export const RECORD_MIGRATION = "insert into public.toolplane_migrations (number, name, hash) values ($1, $2, $3)";

/** Switches off triggers and foreign keys: rows are inserted table by table, not in the order of their references, and all were valid once. */
export const WITHOUT_TRIGGERS = "set session_replication_role = replica";

const isName = (name: string): boolean => /^[a-z_]+(?:\.[a-z_]+)?$/.test(name);

/** The names come from a file of the repository; a text that is no name is refused. $1: the row as JSON. */
export const insertRow = (table: string, columns: readonly string[]): string => {
  if (![table, ...columns].every(isName)) throw new UsageError(`no name of a table or column: ${table}`);
  const list = columns.join(", ");
  return `insert into ${table} (${list}) overriding system value select ${list} from json_populate_record(null::${table}, $1)`;
};

/** Sets the sequence of message numbers behind the rows that were inserted. */
export const GO_ON_COUNTING =
  "select setval(pg_get_serial_sequence('bus.messages', 'id'), (select coalesce(max(id), 1) from bus.messages))";
