// A head that is gone: what comes for its turn is tried as often as allowed, then the turn fails where everybody can see
// it - in its row, in one task event, over HTTP with the reason, and on NATS.
// Doors: HTTP, NATS, in process

import { silentLog } from "@toolplane/engine";
import { createApp, routes } from "@toolplane/server/internal";
import { eventually, meddle, readAnswer } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { openNatsGround } from "../carrier/nats-world.ts";
import { dueNow, head, inbox, suspend } from "./resume-world.ts";
import { advance, answerAll, asking, events, startTurnWorld, type TurnWorld } from "./turn-world.ts";

const show = async (t: TurnWorld, agentTurnId: string) => {
  const { secret } = await t.engine.tokens.create({ role: "admin" });
  const app = createApp({
    engine: () => t.engine,
    routes,
    log: silentLog,
    health: async () => ({ ok: true, body: { status: "ok" } }),
    hosts: [],
    draining: new AbortController().signal,
  });
  const headers = { host: "localhost", authorization: `Bearer ${secret}` };
  return (await readAnswer(await app.request(`/projects/${t.projectId}/turns/${agentTurnId}`, { headers }))).body;
};

const loseHead = (t: TurnWorld) => meddle(t, "loseHeads");

/** The result is tried as often as allowed. */
const exhaust = async (t: TurnWorld): Promise<void> => {
  for (let tries = 0; tries < 4; tries++) {
    expect(await t.engine.tendTurns.open(10)).toMatchObject({ reaped: 0 });
    await advance(t);
    await dueNow(t);
  }
  expect(await inbox(t)).toMatchObject([{ status: "error", error: "resume_retry_exhausted" }]);
};

test("[UTP-7.5-D2] after the retries the turn fails with one task event and its results, and why tells", async () => {
  await using t = await startTurnWorld();
  const { work } = await suspend(t, "safe");
  await answerAll(t);
  await loseHead(t);
  expect((await show(t, work.agentTurnId)).why).toContain("the state of agent helper is gone");
  await exhaust(t);
  expect(await t.engine.tendTurns.open(10)).toMatchObject({ reaped: 1 });
  expect(await t.engine.tendTurns.open(10)).toMatchObject({ reaped: 0 });
  const view = await t.engine.turns.get(work);
  expect(view).toMatchObject({ status: "failed", errorCode: "resume_retry_exhausted", headLost: false });
  const tasks = await events(t, "task");
  expect(tasks.map(({ payload }) => [payload.agent_turn_id, payload.status, payload.error_code])).toEqual([
    [work.agentTurnId, "failed", "resume_retry_exhausted"],
  ]);
  const body = await show(t, work.agentTurnId);
  expect(body.why).toContain("it ended as failed: the state of agent helper is gone");
  const output = await t.engine.boxes.loadBoxCards(t.projectId, view?.outputBoxId ?? "");
  expect(output?.map(({ type }) => type)).toEqual(["agent.thought", "tool.call", "tool.result", "task.deliverable"]);
  expect(await head(t)).toMatchObject({ status: "idle", epoch: 2 });
});

test("[UTP-7.5-D2] a turn whose calls are still open waits for them; the agent's next turn begins after it", async () => {
  await using t = await startTurnWorld();
  const { work } = await suspend(t, "safe");
  const next = await t.engine.turns.spawn(asking(t, { context: { instruction: "next" } }));
  await loseHead(t);
  expect(await t.engine.tendTurns.open(10)).toMatchObject({ reaped: 0 });
  await answerAll(t);
  await exhaust(t);
  await t.engine.tendTurns.open(10);
  expect(await t.engine.turns.get(work)).toMatchObject({ status: "failed" });
  expect(await t.engine.turns.get(next)).toMatchObject({ status: "dispatched", turnEpoch: 3 });
});

test("[UTP-7.5-D2] a person stops such a turn at once, and its open call is canceled", async () => {
  await using t = await startTurnWorld();
  const { work, step } = await suspend(t, "safe");
  await loseHead(t);
  expect(await t.engine.turns.stop({ ...work, actorId: "sys.api" })).toEqual({ stopped: true, status: "failed" });
  const [call] = step.calls;
  const view = await t.engine.calls.get({ projectId: t.projectId, toolCallId: call?.toolCallId ?? "" });
  expect(view.status).toBe("canceled");
  expect(await events(t, "task")).toHaveLength(1);
});

test("[UTP-7.5-D2] a NATS client hears of it once", async () => {
  await using ground = await openNatsGround();
  await using t = await startTurnWorld({ carrier: await ground.carrier() });
  const tasks: string[] = [];
  await ground.bare.listen("cg.v1r4.*.*.evt.agent.*.task", ({ payload }) => tasks.push(payload));
  const { work } = await suspend(t, "safe");
  await answerAll(t);
  await loseHead(t);
  await exhaust(t);
  await t.engine.tendTurns.open(10);
  await t.engine.tendTurns.open(10);
  await eventually(() => tasks.length > 0);
  await t.engine.turns.spawn(asking(t, { agentId: "helper" }));
  expect(tasks.map((text) => JSON.parse(text))).toMatchObject([
    { agent_turn_id: work.agentTurnId, status: "failed", error_code: "resume_retry_exhausted" },
  ]);
});
