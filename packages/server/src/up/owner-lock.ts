// The lock that gives a data directory to one process. The database holds it: it ends with the connection, so a killed owner
// leaves nothing to clean up, and two owners are impossible.

import pg from "pg";
import { READ_OWNER, SET_NAME, TRY_LOCK } from "./owner-lock.sql.ts";

export interface Owner {
  /** 0 when its connection does not say. */
  readonly pid: number;
  /** Where it serves; undefined while it starts. */
  readonly address: string | undefined;
}

export interface OwnerLock {
  /** The server's process for this connection. */
  readonly backend: number;
  /** Says where we serve, for processes that find the lock taken. */
  announce(address: string): Promise<void>;
  /** Resolves when the connection is gone, and the lock with it. */
  readonly lost: Promise<void>;
  release(): Promise<void>;
}

export type LockAttempt =
  | { readonly state: "locked"; readonly lock: OwnerLock }
  | { readonly state: "owned"; readonly owner: Owner; readonly backend: number };

/** In place of an address: a program that uses the plane as a library, which serves nothing. */
export const IN_PROCESS = "in-process";

const PREFIX = "toolplane up";
const CONNECT_TIMEOUT_MS = 5_000;

export const nameOwner = ({ pid, address }: Owner): string =>
  address === undefined ? `${PREFIX} ${pid}` : `${PREFIX} ${pid} ${address}`;

export const parseOwner = (name: string): Owner => {
  const [pid, address] = name.startsWith(`${PREFIX} `) ? name.slice(PREFIX.length + 1).split(" ") : [];
  return { pid: Number(pid) || 0, address: address === undefined || address === "" ? undefined : address };
};

const connect = async (url: string, name: string): Promise<pg.Client> => {
  const client = new pg.Client({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  // `end` reports the end of the connection; without this listener an error would end the process.
  client.on("error", () => {});
  await client.connect();
  return client;
};

const readOwner = async (client: pg.Client): Promise<{ owner: Owner; backend: number } | undefined> => {
  const row = (await client.query<{ name: string; backend: number }>(READ_OWNER)).rows[0];
  return row === undefined ? undefined : { owner: parseOwner(row.name), backend: row.backend };
};

/** The holder of this database's lock; undefined when there is none, or when the holder does not answer. */
export const findOwner = async (url: string): Promise<Owner | undefined> => {
  const client = await connect(url, "toolplane looks").catch(() => undefined);
  if (client === undefined) return undefined;
  try {
    return (await readOwner(client))?.owner;
  } finally {
    await client.end().catch(() => {});
  }
};

/** Rejects when the database does not answer. */
export const tryLock = async (url: string, self: Owner): Promise<LockAttempt> => {
  const client = await connect(url, nameOwner(self));
  const lost = new Promise<void>((resolve) => client.once("end", resolve));
  const release = (): Promise<void> => client.end().catch(() => {});
  const announce = async (address: string): Promise<void> => {
    await client.query(SET_NAME, [nameOwner({ ...self, address })]);
  };
  try {
    // The owner may release it between the two statements; then it is ours after all.
    for (;;) {
      const row = (await client.query<{ locked: boolean; backend: number }>(TRY_LOCK)).rows[0];
      if (row?.locked === true) return { state: "locked", lock: { backend: row.backend, announce, lost, release } };
      const found = await readOwner(client);
      if (found === undefined) continue;
      await release();
      return { state: "owned", ...found };
    }
  } catch (error) {
    await release();
    throw error;
  }
};
