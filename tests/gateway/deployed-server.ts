// A nats-server that runs deploy/nats/nats-server.conf itself, as an operator starts it: passwords from the environment,
// address and port from the command line.

import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findFreePort, type GuardedProcess, processGuard, spawnGuarded } from "@toolplane/processes";
import { UsageError } from "@toolplane/protocol";
import { ensureProgram } from "@toolplane/testkit";
import { connectWire, type WireClient } from "./wire-client.ts";

export const DEPLOYED = fileURLToPath(new URL("../../deploy/nats/", import.meta.url));

export const USERS = ["engine", "text", "legacy", "ui_demo", "observer_demo"] as const;
export type DeployedUser = (typeof USERS)[number];

export const passwordOf = (user: string): string => `pw_of_${user}`;
/** Users of tool services are named after target and project. */
const loginOf = (user: string): string => (user === "text" || user === "legacy" ? `${user}__demo` : user);

export const passwordVariable = (user: string): string => `TOOLPLANE_NATS_${loginOf(user).toUpperCase()}_PASSWORD`;

export interface DeployedServer extends AsyncDisposable {
  readonly port: number;
  url(user: DeployedUser): string;
  connect(user: DeployedUser): Promise<WireClient>;
}

/** Resolves when it serves; rejects with its last words when it ends instead. */
const untilReady = (server: GuardedProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let log = "";
    server.child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      log += chunk;
      if (log.includes("Server is ready")) resolve();
    });
    void server.exited.then(() => reject(new UsageError(`nats-server did not start: ${log.slice(-1000)}`)));
  });

export const startDeployedServer = async (
  options: { readonly config?: string; readonly users?: readonly string[] } = {},
): Promise<DeployedServer> => {
  const { config = join(DEPLOYED, "nats-server.conf"), users = USERS } = options;
  const program = await ensureProgram({ name: "nats-server", debianPackage: "nats-server", otherwise: "" });
  const directory = join(tmpdir(), `toolplane-deployed-nats-${randomBytes(6).toString("hex")}`);
  const watch = await processGuard().watch({ label: "deployed nats store", removeDir: directory });
  mkdirSync(directory, { mode: 0o700 });
  const port = await findFreePort();
  const passwords = Object.fromEntries(users.map((user) => [passwordVariable(user), passwordOf(user)]));
  const server = await spawnGuarded([program, "-c", config, "-a", "127.0.0.1", "-p", String(port)], {
    label: "nats-server as deployed",
    env: { PATH: "/usr/bin:/bin", TOOLPLANE_NATS_STORE: directory, ...passwords },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const stop = async (): Promise<void> => {
    await server.end();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    await watch.forget();
  };
  try {
    await untilReady(server);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    port,
    url: (user) => `nats://${loginOf(user)}:${passwordOf(user)}@127.0.0.1:${port}`,
    connect: (user) =>
      connectWire({ port, user: loginOf(user), password: passwordOf(user), inboxPrefix: `_INBOX_${loginOf(user)}` }),
    [Symbol.asyncDispose]: stop,
  };
};
