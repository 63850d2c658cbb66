// A service that is killed in the middle of its calls.

import { defineTool, type Tool } from "@toolplane/sdk";
import { runTestProgram } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { openWorld } from "./world.ts";

const quick = (name: string, retry: "safe" | "never"): Tool =>
  defineTool({
    name,
    description: "Begins and does not end",
    parameters: { type: "object", properties: {} } as const,
    retry,
    run: async () => "done elsewhere",
  });

test("[API-5-N5] SIGKILL: the safe call runs again elsewhere, nobody knows how the unsafe one ended", async () => {
  // Long enough for a busy machine's heartbeats, short enough for a test.
  await using world = await openWorld({ leaseSeconds: 2 });
  await using program = runTestProgram(new URL("services/hanging.ts", import.meta.url), [world.nats.url, "mortal"]);
  expect(await program.next()).toEqual({ serving: "mortal" });
  const safe = await world.dispatch("repeatable");
  const unsafe = await world.dispatch("unrepeatable");
  const started = [await program.next(), await program.next()];
  expect(started).toEqual(expect.arrayContaining([{ started: safe }, { started: unsafe }]));
  await program.kill();
  await using _second = await world.serve([quick("repeatable", "safe"), quick("unrepeatable", "never")], {
    target: "mortal",
  });
  const again = await world.until(safe, "success");
  expect(again.attempts).toBe(2);
  expect(await world.resultOf(again)).toBe("done elsewhere");
  expect(await world.until(unsafe, "failed")).toMatchObject({ errorCode: "outcome_unknown", attempts: 1 });
});
