// Statements of the superuser that close a server. Not prepared: each runs once. They cannot take parameters in place of a name
// or a password, so values come through a setting of the session and are quoted by the server.

import type { Client } from "pg";

// Synced, so that the password survives when the server is killed right after.
const REMEMBER = `
select set_config('toolplane.verifier', $1, false), set_config('synchronous_commit', 'on', false)`;
const ASSIGN = `do $$ begin
  execute format('alter role %I password %L', current_user, current_setting('toolplane.verifier'));
end $$`;

/** Gives the login of this connection its password. */
export const setPassword = async (client: Client, verifier: string): Promise<void> => {
  await client.query(REMEMBER, [verifier]);
  await client.query(ASSIGN);
};

/** Its rules for logins are read again; what they say holds for connections that come later. */
export const reloadRules = async (client: Client): Promise<void> => {
  await client.query("select pg_reload_conf()");
};

/** A login that was made while the server was open must not remain usable. */
const SHUT_OUT = `do $$
declare who name;
begin
  for who in select rolname from pg_roles where rolcanlogin and rolname <> current_user loop
    execute format('alter role %I nologin', who);
  end loop;
end $$`;

const END_OTHERS = `
select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity
 where backend_type = 'client backend' and pid <> all ($1::int[]) and pid <> pg_backend_pid()`;

/** No other login is let in, and open sessions end. `keep`: the server processes of connections that stay. */
export const evictOthers = async (client: Client, keep: readonly number[]): Promise<void> => {
  await client.query(SHUT_OUT);
  await client.query(END_OTHERS, [keep]);
};
