// Makes the two logins of a plane what they are, whatever they were before, and gives the owner what the superuser of an
// earlier version owns. One transaction of the superuser, that can be repeated. Names stand here as they do in
// @toolplane/processes; the verifiers of the passwords come through settings of the session and are quoted by the server.

import type { Client } from "pg";

const REMEMBER = `
select set_config('toolplane.owner', $1, false), set_config('toolplane.runtime', $2, false)`;

const SET_UP = `do $$
declare
  who text;
  command text;
  powerless constant text := 'nosuperuser nocreatedb nocreaterole noreplication nobypassrls inherit';
  ours constant text[] := array['toolplane_owner', 'toolplane_runtime', 'toolplane_engine', 'toolplane_reader'];
begin
  foreach who in array ours loop
    if not exists (select from pg_roles where rolname = who) then execute format('create role %I', who); end if;
    execute format('alter role %I reset all', who);
    execute format('alter role %I nologin password null %s', who, powerless);
  end loop;
  for command in
    select format('revoke %s from %s', m.roleid::regrole, m.member::regrole)
      from pg_auth_members m where m.member::regrole::text = any (ours)
  loop execute command; end loop;
  execute format('alter role toolplane_owner login password %L', current_setting('toolplane.owner'));
  execute format('alter role toolplane_runtime login password %L', current_setting('toolplane.runtime'));
  grant toolplane_engine to toolplane_runtime;
  -- To look at what the plane is doing, and to end a session of it.
  grant pg_monitor, pg_signal_backend to toolplane_owner;

  execute format('alter database %I owner to toolplane_owner', current_database());
  for command in
    with mine as (
      select oid, nspname, nspowner from pg_namespace where nspname <> 'information_schema' and nspname not like 'pg\\_%'
    )
    select format('alter schema %I owner to toolplane_owner', nspname)
      from mine where nspowner = current_user::regrole
    union all
    select format('alter %s %s owner to toolplane_owner',
             case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end,
             c.oid::regclass)
      from pg_class c join mine on mine.oid = c.relnamespace
     where c.relowner = current_user::regrole and c.relkind in ('r', 'p', 'v', 'm', 'S')
       -- A sequence of a column follows its table.
       and not (c.relkind = 'S' and exists (
         select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')))
    union all
    select format('alter routine %s owner to toolplane_owner', p.oid::regprocedure)
      from pg_proc p join mine on mine.oid = p.pronamespace where p.proowner = current_user::regrole
  loop execute command; end loop;
end $$`;

export interface LoginVerifiers {
  readonly owner: string;
  readonly runtime: string;
}

export const setUpRoles = async (client: Client, { owner, runtime }: LoginVerifiers): Promise<void> => {
  await client.query(REMEMBER, [owner, runtime]);
  await client.query(SET_UP);
};
