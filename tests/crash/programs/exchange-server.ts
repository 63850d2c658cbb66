// The HTTP API over an engine, as a process that can be killed, or kills itself when it comes to a fault point. It says {"port"}
// when it listens.

import { createEngine, silentLog } from "@toolplane/engine";
import { createApp, listen, routes } from "@toolplane/server/internal";

const [databaseUrl = "", port = "0", deadly = ""] = process.argv.slice(2);

const engine = await createEngine({
  connection: { connectionString: databaseUrl },
  leaseSeconds: 2,
  faults: {
    async at(point) {
      if (point === deadly) process.kill(process.pid, "SIGKILL");
    },
  },
});
const app = createApp({
  engine: () => engine,
  routes,
  log: silentLog,
  health: async () => ({ ok: true, body: { status: "ok" } }),
  hosts: [],
  draining: new AbortController().signal,
});
const { address } = await listen({ app, host: "127.0.0.1", port: Number(port) });
process.stdout.write(`${JSON.stringify({ port: Number(address.split(":").at(-1)) })}\n`);
