// A worker that is killed in the middle of thinking: another one goes on from the last committed step.

import { eventually, meddle, runTestProgram } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { ECHO, openAgentPlane, POOL } from "./support/agent-plane.ts";
import type { WorkerProgramConfig } from "./support/worker-program.ts";

test("[UTP-10.1-4] [UTP-10.2-1] SIGKILL during a model call: the same step runs again elsewhere, and nothing is there twice", async () => {
  await using plane = await openAgentPlane({ tools: [ECHO] });
  await plane.agents("ann");
  const config: WorkerProgramConfig = {
    url: plane.t.database.url,
    pool: POOL,
    concurrency: 4,
    calls: 1,
    toolName: ECHO.name,
    stuckAt: 2,
  };
  await using program = runTestProgram(new URL("./support/worker-program.ts", import.meta.url), [
    JSON.stringify(config),
  ]);
  expect(await program.next()).toEqual({ ready: true });
  const turn = await plane.spawn("ann", "go");
  expect(await program.next()).toEqual({ agentId: "ann", stepNumber: 1 });
  expect(await program.next()).toEqual({ agentId: "ann", stepNumber: 2 });
  await program.kill("SIGKILL");
  // The test does not wait until the dead worker's claim is over.
  await meddle(plane.t, "lapseClaims");

  const asked: number[] = [];
  const worker = await plane.startWorker(
    ({ stepNumber }) => {
      asked.push(stepNumber);
      return "done";
    },
    { lookMs: 100 },
  );
  const view = await plane.ended(turn);
  expect(view).toMatchObject({ status: "success", stepCount: 2 });
  expect(asked).toEqual([2]);
  expect((await plane.outputOf(turn)).map(({ type }) => type)).toEqual([
    "agent.thought",
    "tool.call",
    "tool.result",
    "agent.thought",
    "task.deliverable",
  ]);
  const steps = await plane.engine.turns.steps(turn);
  expect(steps.map(({ status }) => status)).toEqual(["completed", "completed"]);
  await eventually(() => worker.stats().turns.finished === 1);
});
