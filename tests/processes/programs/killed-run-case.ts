// A test file of a run that is killed: has servers and a program with children of its own, says so, and never ends.
// Not named `.test.ts`: only killed-run.config.ts runs it.

import { writeFileSync } from "node:fs";
import { runTestProgram, startNats, startTestPostgres } from "@toolplane/testkit";
import { test } from "vitest";

test("waits to be killed", { timeout: 600_000 }, async () => {
  await using server = await startTestPostgres();
  await using nats = await startNats();
  const directory = `${process.env.KILLED_RUN_READY}.stubborn`;
  await using parent = runTestProgram(new URL("./stubborn-family.ts", import.meta.url), [directory]);
  const family = await parent.next();
  writeFileSync(process.env.KILLED_RUN_READY ?? "", JSON.stringify([server.pid, nats.pid, parent.pid, family]));
  await new Promise(() => undefined);
});
