// A parent whose host has let a process get away; the parent is to be killed.

import { createToolHost } from "@toolplane/bridges";

const [program = "", pidFile = "", own = "", tool = ""] = process.argv.slice(2);
const host = createToolHost({
  name: "free",
  command: [program, "/dev/null", pidFile],
  cwd: "/",
  ownUser: own === "own",
  limits: { helloMs: 20_000, startupMs: 60_000 },
});
await host.execute({ toolName: tool, arguments: {}, deadlineMs: 60_000 });
process.stdout.write(`${JSON.stringify({ pids: host.status().processes.map(({ pid }) => pid) })}\n`);
setInterval(() => undefined, 1e6);
