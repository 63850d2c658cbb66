// Statements that bring the rows of an earlier version back.

import { UsageError } from "@toolplane/protocol";

export const CREATE_MIGRATIONS = `
create table public.toolplane_migrations (
  number integer primary key, name text not null, hash text not null, applied_at timestamptz not null default now())`;

export const RECORD_MIGRATION = "insert into public.toolplane_migrations (number, name, hash) values ($1, $2, $3)";

/** Rows come table by table, not in the order of their references; and nothing is refused that was there. */
export const WITHOUT_TRIGGERS = "set session_replication_role = replica";

const isName = (name: string): boolean => /^[a-z_]+(?:\.[a-z_]+)?$/.test(name);

/** Names come from a file of the repository, and nothing but names is taken. $1: the row as JSON. */
export const insertRow = (table: string, columns: readonly string[]): string => {
  if (![table, ...columns].every(isName)) throw new UsageError(`no name of a table or column: ${table}`);
  const list = columns.join(", ");
  return `insert into ${table} (${list}) overriding system value select ${list} from json_populate_record(null::${table}, $1)`;
};

/** New messages come after those that are there. */
export const GO_ON_COUNTING =
  "select setval(pg_get_serial_sequence('bus.messages', 'id'), (select coalesce(max(id), 1) from bus.messages))";
