// Statements of the migration runner. Not prepared: they run once, on a connection of their own.

export const LOCK = "select pg_advisory_lock(7420, 1)";
export const UNLOCK = "select pg_advisory_unlock(7420, 1)";

export const CREATE_TABLE = `
create table if not exists public.toolplane_migrations (
  number     integer primary key,
  name       text not null,
  hash       text not null,
  applied_at timestamptz not null default now()
)`;

export const APPLIED = "select number, name, hash from public.toolplane_migrations order by number";
export const RECORD = "insert into public.toolplane_migrations (number, name, hash) values ($1, $2, $3)";

/** Whether migrations were ever applied, and whether this login may see which. */
export const LOOK = `
select m.oid is not null as made, coalesce(has_table_privilege(m.oid, 'select'), false) as readable, current_user as login
  from (select to_regclass('public.toolplane_migrations') as oid) m`;

/** Identifies the database and its server, whatever way it was reached. */
export const WHICH_DATABASE = `
select concat_ws('-', c.system_identifier, d.oid) as id
  from pg_control_system() c, pg_database d where d.datname = current_database()`;

export const SERVER_VERSION = "select current_setting('server_version_num')::int as version";

/** Whether this connection may become the engine's role. */
export const MAY_BE_ENGINE = `
select exists (select from pg_roles where rolname = 'toolplane_engine')
   and pg_has_role(current_user, (select oid from pg_roles where rolname = 'toolplane_engine'), 'MEMBER') as allowed`;
