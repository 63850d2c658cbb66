// The HTTP API and a worker over one engine, as a process of its own, so that its memory can be measured. The agents of the worker call
// the tool `work` once in a turn and then deliver. It says {"port"} when it listens.

import { createFunctionBrain, createWorker } from "@toolplane/agents";
import { createEngine, silentLog } from "@toolplane/engine";
import { createApp, listen, routes } from "@toolplane/server/internal";

const [databaseUrl = "", pool = ""] = process.argv.slice(2);

const engine = await createEngine({ connection: { connectionString: databaseUrl } });
const app = createApp({
  engine: () => engine,
  routes,
  log: silentLog,
  health: async () => ({ ok: true, body: { status: "ok" } }),
  hosts: [],
  draining: new AbortController().signal,
});
const { address } = await listen({ app, host: "127.0.0.1", port: 0 });
const brain = createFunctionBrain(({ stepNumber }) =>
  stepNumber > 1 ? "done" : { toolCalls: [{ name: "work", arguments: {} }] },
);
await createWorker({ engine, brains: async () => brain, workerTargets: [pool] }).start();
process.stdout.write(`${JSON.stringify({ port: Number(address.split(":").at(-1)) })}\n`);
