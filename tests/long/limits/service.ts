// A service in a process of its own with two limited tools, which write down when they begin and when they end. argv: address, token,
// file. It says {} when it serves.

import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { defineTool, serveTools, silentLog } from "@toolplane/sdk";

const [url = "", token = "", path = ""] = process.argv.slice(2);

/** Long enough that a kill at any moment finds calls in its hands. */
const WORK_MS = 60;

const counted = (name: string, options: { readonly concurrency?: number; readonly rate?: object }) => {
  const write = (what: string): void =>
    appendFileSync(path, `${JSON.stringify({ what, name, pid: process.pid, at: Date.now() })}\n`);
  return defineTool({
    name,
    description: "Says when it begins and when it ends",
    parameters: { type: "object", properties: {} } as const,
    retry: "safe",
    options: options as never,
    run: async () => {
      write("begin");
      await delay(WORK_MS);
      write("end");
      return "done";
    },
  });
};

await serveTools([counted("five", { concurrency: 5 }), counted("twenty", { rate: { limit: 20, per_seconds: 1 } })], {
  url,
  ...(token === "" ? {} : { token }),
  project: "demo",
  target: "counted",
  concurrency: 32,
  handleSignals: false,
  startupMs: Number.POSITIVE_INFINITY,
  log: silentLog,
});
process.stdout.write("{}\n");
