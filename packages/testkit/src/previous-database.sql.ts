// Statements that turn a server back into one of the versions before the passwords.

import type { Client } from "pg";

/** Kept on the disk's side of a kill, also by a server that does not sync. */
export const forgetPassword = async (client: Client): Promise<void> => {
  await client.query("set synchronous_commit = on");
  await client.query("alter role toolplane password null");
  await client.query("select pg_reload_conf()");
};
