// Stopping: a turn ends wherever it is, with its open calls, and whoever still works on it changes nothing.

import { systemClock } from "@toolplane/engine";
import { codeOf, fingerprint, resultFor } from "@toolplane/testkit";
import { expect, test } from "vitest";
import {
  advance,
  asking,
  call,
  commit,
  events,
  mustWork,
  startCarriedWorld,
  startTurnWorld,
  takeTurn,
} from "./turn-world.ts";

test("[UTP-6.7-2] [UTP-7.1-1] a stop cancels the open calls in its own transaction, raises the epoch and begins the next turn", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  const step = await commit(t, work, call("safe"), call("unsafe"));
  const [leased] = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 1 });
  const next = await t.engine.turns.spawn(asking(t));
  const waiting = t.engine.calls.wait({ projectId: t.projectId, toolCallId: step.calls[0]?.toolCallId ?? "" }, 5_000);
  expect(await t.engine.turns.stop({ ...work, actorId: "sys.api", reason: "enough" })).toEqual({
    stopped: true,
    status: "failed",
  });
  expect(await waiting).toBe(true);
  expect(
    await t.rows("select distinct status, error_code, applied_at is not null as applied from state.calls"),
  ).toEqual([{ status: "canceled", error_code: "canceled", applied: true }]);
  if (leased === undefined) throw new RangeError("a call was expected");
  expect(await codeOf(t.engine.calls.settle(resultFor(leased)))).toBe("already_settled");
  const view = await t.engine.turns.get(work);
  expect(view).toMatchObject({ status: "failed", error: "enough", errorCode: "stopped", turnEpoch: 2 });
  const cards = (await t.engine.boxes.loadBoxCards(t.projectId, work.outputBoxId)) ?? [];
  expect(cards.map(({ type }) => type)).toEqual([
    "agent.thought",
    "tool.call",
    "tool.call",
    "tool.result",
    "tool.result",
    "agent.error",
    "task.deliverable",
  ]);
  expect(cards.at(-1)).toMatchObject({
    metadata: { stop_reason: "enough" },
    content: { data: { diagnostics: { source: "agent_worker.stop_handler" } } },
  });
  expect((await events(t, "task")).map(({ payload }) => payload)).toMatchObject([
    { status: "failed", error: "enough", error_code: "stopped" },
  ]);
  expect((await events(t, "step")).map(({ payload }) => payload.phase)).toEqual(["failed", "failed"]);
  expect(mustWork(await advance(t))).toMatchObject({ agentTurnId: next.agentTurnId, turnEpoch: 3 });
  expect(await t.rows("select message_type from state.inbox where message_type = 'stop'")).toEqual([]);
});

test("a stop rings the pool, so that whoever thinks looks at its claim", async () => {
  await using t = await startCarriedWorld();
  await t.engine.turns.stop({ ...(await takeTurn(t)), actorId: "sys.api" });
  const bells = await t.rows(
    "select payload::json ->> 'reason' as reason from bus.messages where component = 'agent' and category = 'cmd' order by id",
  );
  expect(bells.at(-1)).toEqual({ reason: "agent_idle" });
});

test("[UTP-3-14] a stop while somebody thinks: the claim is gone, the heartbeat says so, the commit changes nothing", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  await t.engine.turns.beginStep(work, "step_a_1");
  expect(await t.engine.turns.heartbeat([work])).toEqual([]);
  await t.engine.turns.stop({ ...work, actorId: "sys.api" });
  expect(await t.engine.turns.heartbeat([work])).toEqual([work]);
  const before = await fingerprint(t);
  expect(await codeOf(commit(t, work, call("safe")))).toBe("lease_lost");
  expect(await codeOf(t.engine.turns.finish(work, { status: "success", deliverable: "x" }))).toBe("lease_lost");
  expect(await fingerprint(t)).toBe(before);
  expect(await t.engine.turns.get(work)).toMatchObject({ error: "stopped_by_pmo" });
  expect((await t.engine.turns.steps(work)).map(({ status }) => status)).toEqual(["failed", "failed"]);
});

test("[UTP-10.7-4] a stop is a step of its own: step_stop_, with the cards that it wrote, under the committed epoch", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  await t.engine.turns.stop({ ...work, actorId: "sys.api", reason: "enough" });
  const [step, ...others] = await t.engine.turns.steps(work);
  expect(others).toEqual([]);
  expect(step).toMatchObject({ status: "failed", error: "enough", toolCallIds: [] });
  expect(step?.stepId).toMatch(/^step_stop_[0-9a-f]{32}$/);
  expect(step?.endedAt).not.toBeNull();
  const cards = (await t.engine.boxes.loadBoxCards(t.projectId, work.outputBoxId)) ?? [];
  expect(cards.map(({ type, metadata }) => [type, metadata.step_id])).toEqual([
    ["agent.error", step?.stepId],
    ["task.deliverable", step?.stepId],
  ]);
  expect((await events(t, "step")).map(({ payload, headers }) => [payload, headers["CG-Turn-Epoch"]])).toEqual([
    [
      {
        agent_turn_id: work.agentTurnId,
        step_id: step?.stepId,
        phase: "failed",
        metadata: { error: "enough" },
        new_card_ids: cards.map(({ card_id }) => card_id),
      },
      "2",
    ],
  ]);
  const queued = await t.engine.turns.spawn(asking(t));
  const behind = await t.engine.turns.spawn(asking(t));
  await t.engine.turns.stop({ ...behind, actorId: "sys.api" });
  expect(await t.engine.turns.steps(behind)).toEqual([]);
  expect(queued.agentTurnId).not.toBe(behind.agentTurnId);
});

test("[UTP-6.7-1] a queued turn is canceled by its id, whatever its correlation, with the reason; the others keep their place", async () => {
  await using t = await startTurnWorld();
  const first = await takeTurn(t);
  const queued = await t.engine.turns.spawn(asking(t, { correlationId: "batch-3" }));
  const after = await t.engine.turns.spawn(asking(t));
  expect(await t.engine.turns.stop({ ...queued, actorId: "sys.pmo", reason: "not needed" })).toEqual({
    stopped: true,
    status: "canceled",
  });
  expect(await t.engine.turns.get(queued)).toMatchObject({
    status: "canceled",
    errorCode: "stopped",
    error: "not needed",
  });
  expect(
    await t.rows(
      "select status, payload::json ->> 'cancel_reason' as reason from state.inbox where agent_turn_id = $1",
      [queued.agentTurnId],
    ),
  ).toEqual([{ status: "skipped", reason: "not needed" }]);
  expect((await events(t, "task")).map(({ payload }) => payload)).toMatchObject([
    { agent_turn_id: queued.agentTurnId, status: "canceled" },
  ]);
  await t.engine.turns.finish(first, { status: "success", deliverable: "ok" });
  expect(mustWork(await advance(t)).agentTurnId).toBe(after.agentTurnId);
});

test("stopping what has ended, or twice at once, ends it once", async () => {
  await using t = await startTurnWorld();
  const other = await t.another();
  const work = await takeTurn(t);
  const request = { ...work, actorId: "sys.api" };
  const all = await Promise.all([t.engine, other, t.engine].map((engine) => engine.turns.stop(request)));
  expect(all.filter(({ stopped }) => stopped)).toHaveLength(1);
  expect(await t.engine.turns.stop(request)).toEqual({ stopped: false, status: "failed" });
  expect(await events(t, "task")).toHaveLength(1);
});

test("a stop and a run that gives the same agent a further turn never wait for each other, and both happen", async () => {
  let pauses = 0;
  const sleep: typeof systemClock.sleep = (ms, signal) => {
    pauses++;
    return systemClock.sleep(ms, signal);
  };
  await using t = await startTurnWorld({ clock: { ...systemClock, sleep } });
  const work = await takeTurn(t);
  await commit(t, work, call("safe"));
  const [leased] = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 1 });
  if (leased === undefined) throw new RangeError("a call was expected");
  const held = { projectId: t.projectId, toolCallId: leased.facts.toolCallId, leaseId: leased.lease.id };
  const lineage = { agentId: work.agentId, agentTurnId: work.agentTurnId };
  let stopping: Promise<unknown> | undefined;
  const further = await t.engine.delegation.forCall(held, async (tx) => {
    const before = pauses;
    stopping = t.engine.turns.stop({ ...work, actorId: "sys.api" });
    // It has found the call in other hands, and comes again later.
    await expect.poll(() => pauses).toBeGreaterThan(before);
    return t.engine.turns.spawn(asking(t, { lineage }), tx);
  });
  expect(await stopping).toEqual({ stopped: true, status: "failed" });
  expect(mustWork(await advance(t)).agentTurnId).toBe(further.agentTurnId);
});

test("a stop inside somebody's transaction happens with it or not at all", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  await commit(t, work, call("safe"));
  const before = await fingerprint(t);
  const failing = t.engine.db.transaction(async (tx) => {
    await t.engine.turns.stop({ ...work, actorId: "sys.pmo" }, tx);
    throw new RangeError("not after all");
  });
  await expect(failing).rejects.toThrow("not after all");
  expect(await fingerprint(t)).toBe(before);
});

test("waiting for a turn: told by its end, here and elsewhere, and by nothing else", async () => {
  await using t = await startTurnWorld();
  const other = await t.another();
  const work = await takeTurn(t);
  expect(await t.engine.turns.wait(work, 10)).toMatchObject({ status: "running" });
  expect(await t.engine.turns.wait(work, 60_000, AbortSignal.timeout(20))).toMatchObject({ status: "running" });
  const waits = Promise.all([t.engine.turns.wait(work, 30_000), other.turns.wait(work, 30_000)]);
  await t.engine.turns.finish(work, { status: "success", deliverable: "ok" });
  expect((await waits).map((view) => view?.status)).toEqual(["success", "success"]);
  expect(await t.engine.turns.wait({ projectId: t.projectId, agentTurnId: "turn_nothing" }, 10)).toBeUndefined();
});

test("looking at turns: by agent, by parent, by status, in pages, newest first", async () => {
  await using t = await startTurnWorld();
  const made = [];
  for (let i = 0; i < 5; i++) made.push(await t.engine.turns.spawn(asking(t)));
  const ids = made.map(({ agentTurnId }) => agentTurnId).reverse();
  const page = await t.engine.turns.list(t.projectId, { limit: 3 });
  expect(page.items.map(({ agentTurnId }) => agentTurnId)).toEqual(ids.slice(0, 3));
  const rest = await t.engine.turns.list(t.projectId, { limit: 3, cursor: page.cursor ?? "" });
  expect(rest.items.map(({ agentTurnId }) => agentTurnId)).toEqual(ids.slice(3));
  expect(rest.cursor).toBeNull();
  expect((await t.engine.turns.list(t.projectId, { status: "queued", agentId: "helper" })).items).toHaveLength(4);
  expect((await t.engine.turns.list(t.projectId, { status: "dispatched" })).items).toHaveLength(1);
  expect((await t.engine.turns.list(t.projectId, { parentAgentTurnId: ids[0] })).items).toEqual([]);
  expect((await t.engine.turns.list("elsewhere")).items).toEqual([]);
});

test("[HOST-4-15] a session's next call is offered at once when the one before it ends with its turn", async () => {
  await using t = await startTurnWorld({ tools: [{ name: "mine", options: { session: "agent" } }] });
  const work = await takeTurn(t);
  await commit(t, work, call("mine"));
  const claim = { projectId: t.projectId, target: "test", holder: "h", max: 1 };
  const [held] = await t.engine.calls.claim(claim);
  expect(held?.facts.agentTurnId).toBe(work.agentTurnId);
  const next = await t.engine.calls.dispatch({
    projectId: t.projectId,
    toolName: "mine",
    agentId: "helper",
    arguments: {},
  });
  expect(await t.engine.calls.claim(claim)).toEqual([]);
  const heard: string[] = [];
  for (const kind of ["settled", "sessions"] as const) t.engine.doorbell.listen(kind, () => heard.push(kind));
  await t.engine.turns.stop({ ...work, actorId: "sys.api" });
  // A service that waits in line looks for calls of sessions when this bell rings, and by itself only after a second.
  expect(heard).toContain("sessions");
  expect((await t.engine.calls.claim(claim)).map(({ facts }) => facts.toolCallId)).toEqual([next.toolCallId]);
});

test("a service is not believed any more about a call that ended with its turn", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  await commit(t, work, call("safe"));
  const [held] = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 1 });
  if (held === undefined) throw new RangeError("a call was expected");
  await t.engine.calls.checkHeld(held.facts, held.lease.id);
  await t.engine.turns.stop({ ...work, actorId: "sys.api" });
  expect(await codeOf(t.engine.calls.checkHeld(held.facts, held.lease.id))).toBe("lease_lost");
});
