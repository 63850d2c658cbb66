// Brings a live server to where only its passwords open it. It may be one of an earlier version, which let everybody in
// who reached its socket, or one whose key was lost.
//   A1. Password first, then the rules, then the sessions: a death in between leaves a server that lets the superuser in
//       with the key or without it, and the next start does the rest.
//   A2. Done means that the server itself was asked and wants a password, not that a file was written.
//   A3. Sessions from before end: the new rules say nothing about connections that are open.

import { setTimeout as delay } from "node:timers/promises";
import { ToolplaneError } from "@toolplane/protocol";
import { writeLoginRules } from "./login-rules.ts";
import { type LoginState, readLoginState } from "./login-state.ts";
import { SUPERUSER } from "./logins.ts";
import { endOtherSessions, reloadRules, setPassword, shutOutOthers } from "./server-access.sql.ts";
import { isRefused, socketUrl, withClient } from "./server-connection.ts";
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

export const doorUrl = ({ socketDir, port, key }: ServerDoor, database: string, login: string): string =>
  socketUrl({ socketDir, port, user: login, password: key.passwordOf(login) }, database);

export const readDoor = ({ socketDir, port }: ServerDoor): Promise<LoginState> =>
  readLoginState(socketDir, port, SUPERUSER);

const untilDoor = async (door: ServerDoor, wanted: LoginState): Promise<void> => {
  const deadline = performance.now() + RELOAD_MS;
  while ((await readDoor(door)) !== wanted) {
    if (performance.now() > deadline)
      throw new ToolplaneError("storage_error", `the database server (process ${door.pid}) does not take its new rules`, {
        detail: { todo: `look into ${door.cluster}/pg_hba.conf and the server's log, stop the server, and start again` },
      });
    await delay(POLL_MS);
  }
};

/** The key is not the server's (any more): the superuser is let in until `closeServer` has given it the new password. */
const openServer = async (door: ServerDoor): Promise<void> => {
  writeLoginRules(door.cluster, "open");
  process.kill(door.pid, "SIGHUP");
  await untilDoor(door, "open");
};

const knowsKey = (door: ServerDoor): Promise<boolean> =>
  withClient(doorUrl(door, "postgres", SUPERUSER), async () => true).catch((error: unknown) => {
    if (isRefused(error)) return false;
    throw error;
  });

/** `keep`: the server's process of the caller's own connection, which stays. */
export const closeServer = async (door: ServerDoor, keep: readonly number[] = []): Promise<void> => {
  if ((await readDoor(door)) === "closed" && !(await knowsKey(door))) await openServer(door);
  const isOpen = (await readDoor(door)) === "open";
  await withClient(doorUrl(door, "postgres", SUPERUSER), async (client) => {
    if (isOpen) {
      await setPassword(client, makeVerifier(door.key.passwordOf(SUPERUSER)));
      await shutOutOthers(client);
      writeLoginRules(door.cluster, "closed");
      await reloadRules(client);
      await untilDoor(door, "closed");
    }
    await endOtherSessions(client, keep);
  });
};
