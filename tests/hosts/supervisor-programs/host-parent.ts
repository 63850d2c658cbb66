// A parent with hosts in every state, to be killed: busy ones, idle ones, one that ignores SIGTERM, one with a grandchild.

import { createToolHost } from "@toolplane/bridges";
import { processGuard } from "@toolplane/processes";
import { badHostCommand, findDescendants } from "@toolplane/testkit";

const start = async (habit: string, pool: number, tool?: string): Promise<void> => {
  const host = createToolHost({
    name: habit,
    command: badHostCommand(habit),
    cwd: "/",
    limits: { pool, helloMs: 20_000, startupMs: 60_000 },
  });
  await host.start();
  if (tool === undefined) return;
  for (let i = 0; i < pool; i += 1) {
    void host.execute({ toolName: tool, arguments: { ms: 1e9 }, deadlineMs: 1e9 });
  }
  while (host.status().processes.filter(({ inFlight, state }) => state === "ready" && inFlight === 1).length < pool) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

await start("honest", 1);
await start("says_no", 2, "wait");
await start("ignores_sigterm", 1, "bad");
const grandchildren = createToolHost({
  name: "family",
  command: badHostCommand("forks_grandchild"),
  cwd: "/",
  limits: { helloMs: 20_000, startupMs: 60_000 },
});
await grandchildren.execute({ toolName: "bad", arguments: {}, deadlineMs: 60_000 });

const hosts = findDescendants(process.pid).filter(({ pid }) => pid !== processGuard().pid);
process.stdout.write(`${JSON.stringify({ hosts })}\n`);
setInterval(() => undefined, 1e6);
