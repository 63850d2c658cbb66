// A turn from its request to its deliverable: spawn, begin, a step with calls, results, a second step, the end.

import { stepIdOf } from "@toolplane/engine";
import { expect, test } from "vitest";
import { advance, answerAll, asking, call, commit, events, mustWork, startTurnWorld } from "./turn-world.ts";

test("[INV-I10-T1] [SEE-11] a turn: three calls, their results, a deliverable, one task event at the end", async () => {
  await using t = await startTurnWorld();
  const { turns } = t.engine;
  const spawned = await turns.spawn(asking(t));
  expect(spawned).toMatchObject({ turnEpoch: 1, recursionDepth: 0, idempotent: false });
  expect(spawned.agentTurnId).toMatch(/^turn_[0-9a-f]{32}$/);

  const work = mustWork(await advance(t));
  expect(work).toMatchObject({ agentTurnId: spawned.agentTurnId, turnEpoch: 1, stepCount: 0, kind: "turn" });
  await turns.beginStep(work, stepIdOf(work.agentTurnId, 1));
  const step = await commit(t, work, call("safe"), call("unsafe"), call("safe"));
  expect(step).toMatchObject({ next: "suspended", stepCount: 1 });
  expect(await turns.get(work)).toMatchObject({ status: "suspended", waitingCount: 3, stepCount: 1 });

  expect(await answerAll(t)).toBe(3);
  const again = await advance(t);
  expect(again.applied).toBe(3);
  const more = mustWork(again);
  expect(more).toMatchObject({ agentTurnId: spawned.agentTurnId, turnEpoch: 2, stepCount: 1 });

  const end = await turns.finish(more, {
    stepId: stepIdOf(more.agentTurnId, 2),
    status: "success",
    deliverable: "three words",
  });
  expect(end).toMatchObject({ status: "success", error: null });
  expect(await turns.get(work)).toMatchObject({
    status: "success",
    stepCount: 2,
    deliverableCardId: end.deliverableCardId,
  });
  const tasks = await events(t, "task");
  expect(tasks).toHaveLength(1);
  expect(tasks[0]?.payload).toMatchObject({
    agent_turn_id: spawned.agentTurnId,
    status: "success",
    deliverable_card_id: end.deliverableCardId,
    output_box_id: spawned.outputBoxId,
  });
  const box = await t.engine.boxes.loadBoxCards(t.projectId, spawned.outputBoxId);
  expect(box?.map(({ type }) => type)).toEqual([
    "agent.thought",
    "tool.call",
    "tool.call",
    "tool.call",
    "tool.result",
    "tool.result",
    "tool.result",
    "task.deliverable",
  ]);
  expect((await events(t, "state")).map(({ payload }) => payload.status)).toEqual([
    "dispatched",
    "running",
    "suspended",
    "suspended",
    "suspended",
    "running",
    "idle",
  ]);
  // The end of the turn is told last.
  const told = await t.rows<{ subject: string }>(
    "select subject from bus.events where subject not like '%.call' order by id, part",
  );
  expect(told.slice(-3).map(({ subject }) => subject.split(".").at(-1))).toEqual(["step", "state", "task"]);
  expect(await turns.wait(work, 1_000)).toMatchObject({ status: "success" });
});
