// Gives the server's role a password, for connections over TCP. The statement cannot take parameters, so the value
// reaches it through a setting of this session and is quoted by the server.

import type { Client } from "pg";

const REMEMBER = "select set_config('toolplane.password', $1, false)";
const ASSIGN = `do $$ begin
  execute format('alter role %I password %L', current_user, current_setting('toolplane.password'));
end $$`;

export const setServerPassword = async (client: Client, password: string): Promise<void> => {
  await client.query(REMEMBER, [password]);
  await client.query(ASSIGN);
};
