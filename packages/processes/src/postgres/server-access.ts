// Closes a live server so that only its key opens it. The server may be of an earlier version, which let in every process that
// reached its socket, or its key may be lost.
//   SA1. Password first, then the rules, then the sessions: a crash in between leaves a server that lets the superuser in with or
//       without the key, and the next start does the rest.
//   SA2. Done means that the server itself was asked and wants a password, not only that a file was written.
//   SA3. Earlier sessions and logins are ended, because the new rules do not affect open connections.

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

/** The server does not know the key: the superuser is let in without a password until it has the new one. */
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
