// Brings a live server to where only its key opens it. It may be one of an earlier version, which let everybody in who
// reached its socket, or one whose key was lost.
//   SA1. Password first, then the rules, then the sessions: a death in between leaves a server that lets the superuser in
//       with the key or without it, and the next start does the rest.
//   SA2. Done means that the server itself was asked and wants a password, not that a file was written.
//   SA3. Sessions and logins from before are evicted: the new rules say nothing about connections that are open.

import { setTimeout as delay } from "node:timers/promises";
import { ToolplaneError } from "@toolplane/protocol";
import type { Client } from "pg";
import { writeLoginRules } from "./login-rules.ts";
import { type LoginState, readLoginState } from "./login-state.ts";
import { SUPERUSER } from "./logins.ts";
import { evictOthers, reloadRules, setPassword } from "./server-access.sql.ts";
import { isRefused, type SocketLogin, socketUrl, withClient } from "./server-connection.ts";
import { makeVerifier, type ServerKey } from "./server-key.ts";

/** A live server and the key that shall open it. */
export interface ServerDoor {
  readonly pid: number;
  readonly cluster: string;
  readonly socketDir: string;
  readonly port: number;
  readonly key: ServerKey;
}

const POLL_MS = 10;
/** The server reads its rules within milliseconds of the signal. */
const RELOAD_MS = 10_000;

export const doorLogin = ({ socketDir, port, key }: ServerDoor, user: string = SUPERUSER): SocketLogin => ({
  socketDir,
  port,
  user,
  password: key.passwordOf(user),
});

const asSuperuser = <T>(door: ServerDoor, body: (client: Client) => Promise<T>): Promise<T> =>
  withClient(socketUrl(doorLogin(door), "postgres"), body);

export const readDoor = ({ socketDir, port }: ServerDoor): Promise<LoginState> =>
  readLoginState(socketDir, port, SUPERUSER);

const untilDoor = async (door: ServerDoor, wanted: LoginState): Promise<void> => {
  const deadline = performance.now() + RELOAD_MS;
  while ((await readDoor(door)) !== wanted) {
    if (performance.now() > deadline)
      throw new ToolplaneError(
        "storage_error",
        `the database server (process ${door.pid}) does not take its new rules`,
        {
          detail: {
            todo: `look into ${door.cluster}/pg_hba.conf and the server's log, stop the server, and start again`,
          },
        },
      );
    await delay(POLL_MS);
  }
};

/** The key is not the server's (any more): the superuser is let in until it has the new password. */
const openServer = async (door: ServerDoor): Promise<void> => {
  writeLoginRules(door.cluster, "open");
  process.kill(door.pid, "SIGHUP");
  await untilDoor(door, "open");
};

const knowsKey = (door: ServerDoor): Promise<boolean> =>
  asSuperuser(door, async () => true).catch((error: unknown) => {
    if (isRefused(error)) return false;
    throw error;
  });

export const setSuperuserPassword = (door: ServerDoor, now: ServerKey = door.key): Promise<void> =>
  asSuperuser({ ...door, key: now }, (client) => setPassword(client, makeVerifier(door.key.passwordOf(SUPERUSER))));

/** Afterwards the server asks for passwords, and the superuser's is the key's. Sessions that are open are left alone. */
export const secureServer = async (door: ServerDoor): Promise<void> => {
  if ((await readDoor(door)) === "closed") {
    if (await knowsKey(door)) return;
    await openServer(door);
  }
  await setSuperuserPassword(door);
  writeLoginRules(door.cluster, "closed");
  await asSuperuser(door, reloadRules);
  await untilDoor(door, "closed");
};

/** All logins but the superuser lose their right to log in, and all sessions end but those in `keep`. */
export const evictFromServer = (door: ServerDoor, keep: readonly number[] = []): Promise<void> =>
  asSuperuser(door, (client) => evictOthers(client, keep));
