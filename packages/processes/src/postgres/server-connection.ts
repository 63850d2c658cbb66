// How a server is reached: its URLs, when it is ready, and a free port for it.

import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { ToolplaneError, UsageError } from "@toolplane/protocol";
import { Client } from "pg";
import type { GuardedProcess } from "../guarded/spawn-guarded.ts";
import { readLoginState } from "./login-state.ts";
import { SUPERUSER } from "./logins.ts";
import type { ServerLog } from "./server-log.ts";

// A connection attempt on a server that is not there yet costs a fraction of a millisecond.
const POLL_MS = 10;

export interface SocketLogin {
  readonly socketDir: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/** A connection URL over the unix socket, as psql and the driver read it. */
export const socketUrl = ({ socketDir, port, user, password }: SocketLogin, database: string): string =>
  `postgresql://${user}:${password}@/${encodeURIComponent(database)}?host=${encodeURIComponent(socketDir)}&port=${port}`;

export const loopbackUrl = (port: number, password: string, database: string): string =>
  `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;

/** The server answered, and does not accept this login: it is missing, may not log in, or has another password. */
export const isRefused = (error: unknown): boolean => {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" && code.startsWith("28");
};

export const withClient = async <T>(url: string, body: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  // A server that dies under an idle connection must not end this process.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await body(client);
  } finally {
    await client.end();
  }
};

/** Resolves when the server accepts connections; throws with the server's own message when it is gone or too slow. */
export const untilReady = async (
  server: GuardedProcess,
  { socketDir, port }: Pick<SocketLogin, "socketDir" | "port">,
  log: ServerLog,
  timeoutMs: number,
): Promise<void> => {
  const deadline = performance.now() + timeoutMs;
  let gone = false;
  void server.exited.then(() => {
    gone = true;
  });
  while ((await readLoginState(socketDir, port, SUPERUSER)) === "away") {
    if (gone) throw new ToolplaneError("storage_error", `the database server did not start: ${log.tail()}`);
    if (performance.now() > deadline) {
      await server.end({ signal: "SIGQUIT" });
      throw new ToolplaneError("storage_error", `the database server was not ready in ${timeoutMs} ms: ${log.tail()}`);
    }
    await delay(POLL_MS);
  }
};

/** A free port of 127.0.0.1; another program may take it before the server does, so the caller tries again. */
export const findFreePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === "string") reject(new UsageError("a TCP listener has a port"));
        else resolve(address.port);
      });
    });
  });
