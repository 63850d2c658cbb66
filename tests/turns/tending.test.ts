// What heals turns: claims that lapse, bells nobody heard, workers that die again and again, turns nothing leads on.

import { letPass, meddle } from "@toolplane/testkit";
import { expect, test } from "vitest";
import {
  addAgent,
  advance,
  answerAll,
  asking,
  call,
  commit,
  events,
  mustWork,
  startCarriedWorld,
  startTurnWorld,
  type TurnWorld,
  takeTurn,
} from "./turn-world.ts";

const lapse = (t: TurnWorld) => meddle(t, "lapseClaims");
const unheard = (t: TurnWorld) => meddle(t, "leaveBellsUnheard");
const still = (t: TurnWorld) => meddle(t, "ageHeads");
const bells = (t: TurnWorld) =>
  t.rows<{ payload: { reason?: string }; message_id: string | null }>(
    "select payload::json as payload, message_id from bus.messages where component = 'agent' and category = 'cmd' order by id",
  );

test("[UTP-12-1] work whose worker fell silent is offered again, found where the last committed step left it", async () => {
  await using t = await startCarriedWorld();
  const work = await takeTurn(t);
  expect(await t.engine.tendTurns.lapsed(10)).toMatchObject({ looked: 0 });
  await lapse(t);
  expect(await t.engine.tendTurns.lapsed(10)).toMatchObject({ requeued: 1, reaped: 0 });
  expect(await t.rows("select status, retry_count, claim_id from state.inbox")).toEqual([
    { status: "pending", retry_count: 1, claim_id: null },
  ]);
  expect(await bells(t)).toHaveLength(2);
  const again = mustWork(await advance(t));
  expect(again).toMatchObject({ agentTurnId: work.agentTurnId, turnEpoch: 1, stepCount: 0 });
});

test("[UTP-12-10] a heartbeat keeps a long thought alive", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  await lapse(t);
  expect(await t.engine.turns.heartbeat([work])).toEqual([]);
  expect(await t.engine.tendTurns.lapsed(10)).toMatchObject({ looked: 0 });
  expect(await commit(t, work, call("safe"))).toMatchObject({ next: "suspended" });
});

test("[UTP-12-7] a turn whose workers die again and again is given up, with a deliverable and one task event", async () => {
  await using t = await startTurnWorld({ turns: { maxClaims: 3 } });
  const work = await takeTurn(t);
  for (let died = 1; died < 3; died++) {
    await lapse(t);
    expect(await t.engine.tendTurns.lapsed(10)).toMatchObject({ requeued: 1 });
    mustWork(await advance(t));
  }
  await lapse(t);
  // The next worker does not take it again either.
  expect((await advance(t)).work).toBeUndefined();
  expect(await t.engine.tendTurns.lapsed(10)).toMatchObject({ requeued: 0, reaped: 1 });
  expect(await t.engine.turns.get(work)).toMatchObject({
    status: "failed",
    errorCode: "timeout_reaped_by_watchdog",
    turnEpoch: 2,
  });
  expect((await events(t, "task")).map(({ payload }) => payload)).toMatchObject([
    { status: "failed", error_code: "timeout_reaped_by_watchdog" },
  ]);
  expect(await t.rows("select status from state.heads")).toEqual([{ status: "idle" }]);
});

test("[UTP-12-5] [UTP-12-8] [UTP-W06-T1] [UTP-6.9-2] [INV-I13-T1] a bell nobody heard is rung again, less and less often, without a second row", async () => {
  await using t = await startCarriedWorld();
  const made = await t.engine.turns.spawn(asking(t));
  await meddle(t, "loseCommands");
  expect(await t.engine.tendTurns.unheard(10)).toMatchObject({ looked: 0 });
  for (let rings = 1; rings <= 3; rings++) {
    await unheard(t);
    const before = await t.engine.databaseNow();
    expect(await t.engine.tendTurns.unheard(10)).toMatchObject({ rung: 1 });
    const [row] = await t.rows<{ rings: number; at: Date }>("select rings, ring_at as at from state.inbox");
    expect(row?.rings).toBe(rings);
    expect((row?.at.getTime() ?? 0) - before).toBeGreaterThan((5 * 2 ** rings - 3) * 1_000);
  }
  // One bell is enough while nobody takes it.
  expect((await bells(t)).map(({ payload }) => payload.reason)).toEqual(["watchdog_retransmit"]);
  expect(await t.rows("select inbox_id from state.inbox")).toHaveLength(1);
  const [before] = await t.rows<{ at: Date }>("select dispatched_at as at from state.turns");
  expect((await t.engine.turns.get(made))?.dispatchedAt).toBe(before?.at.toISOString());
  expect(mustWork(await advance(t)).agentTurnId).toBe(made.agentTurnId);
});

test("[UTP-12-2] a deferred row that is due rings its agent once", async () => {
  await using t = await startCarriedWorld();
  const work = await takeTurn(t);
  await commit(t, work, call("safe"), call("safe"));
  await answerAll(t);
  await meddle(t, "loseCommands");
  await meddle(t, "deferResults");
  expect(await t.engine.tendTurns.unheard(10)).toMatchObject({ rung: 2 });
  expect((await bells(t)).map(({ payload }) => payload.reason)).toEqual(["watchdog_due_deferred"]);
});

test("[UTP-12-6] a turn nobody took in time is rung one last time, and then ends as dispatch_timeout with epoch+1", async () => {
  await using t = await startTurnWorld({ turns: { dispatchTimeoutSeconds: 3_600 } });
  const made = await t.engine.turns.spawn(asking(t));
  const next = await t.engine.turns.spawn(asking(t));
  // The machine was off for a day: nobody could have come.
  await meddle(t, "ageDispatchedTurns");
  await meddle(t, "ageRings");
  expect(await t.engine.tendTurns.unheard(10)).toMatchObject({ rung: 1, reaped: 0 });
  expect(await t.engine.turns.get(made)).toMatchObject({ status: "dispatched" });
  await unheard(t);
  expect(await t.engine.tendTurns.unheard(10)).toMatchObject({ rung: 0, reaped: 1 });
  expect(await t.engine.turns.get(made)).toMatchObject({
    status: "timeout",
    errorCode: "dispatch_timeout",
    turnEpoch: 2,
  });
  expect((await events(t, "task")).map(({ payload }) => payload)).toMatchObject([
    { status: "timeout", error_code: "dispatch_timeout" },
  ]);
  const [card] = await t.engine.cards.getCards(t.projectId, [
    (await t.engine.turns.get(made))?.deliverableCardId ?? "",
  ]);
  expect(card).toMatchObject({
    content: { data: { kind: "fallback_deliverable", diagnostics: { source: "pmo.l0_guard.watchdog" } } },
  });
  expect(mustWork(await advance(t))).toMatchObject({ agentTurnId: next.agentTurnId, turnEpoch: 3 });
});

test("a turn waits for ever when it is told to", async () => {
  await using t = await startTurnWorld({ turns: { dispatchTimeoutSeconds: null } });
  const made = await t.engine.turns.spawn(asking(t));
  await meddle(t, "ageTurns");
  await meddle(t, "ringOften");
  expect(await t.engine.tendTurns.unheard(10)).toMatchObject({ rung: 1, reaped: 0 });
  expect(await t.engine.turns.get(made)).toMatchObject({ status: "dispatched" });
});

test("[UTP-12-8] [UTP-12-9] [UTP-2.4-7] a row that cannot be read is set aside with the reason; the others are rung, and its turn is ended", async () => {
  await using t = await startTurnWorld();
  for (const agent of ["a", "b", "c"]) await addAgent(t, agent);
  const made = [];
  for (const agentId of ["a", "b", "c"]) made.push(await t.engine.turns.spawn(asking(t, { agentId })));
  await meddle(t, "emptyHeadersOfA");
  await meddle(t, "breakPayloadOfB");
  await unheard(t);
  expect(await t.engine.tendTurns.unheard(10)).toMatchObject({ looked: 3, rung: 1, broken: 2 });
  const rows = await t.rows<{ agent_id: string; status: string; payload: object }>(
    "select agent_id, status, payload::json as payload from state.inbox order by agent_id",
  );
  expect(rows).toMatchObject([
    {
      agent_id: "a",
      status: "error",
      payload: { watchdog_error: "invalid_replay_context", watchdog_detail: expect.stringContaining("traceparent") },
    },
    { agent_id: "b", status: "error", payload: { watchdog_error: "invalid_replay_context" } },
    { agent_id: "c", status: "pending" },
  ]);
  await still(t);
  expect(await t.engine.tendTurns.open(2)).toMatchObject({ looked: 3, reaped: 2 });
  expect(await Promise.all(made.map(async (turn) => (await t.engine.turns.get(turn))?.status))).toEqual([
    "failed",
    "failed",
    "dispatched",
  ]);
  expect(await events(t, "task")).toHaveLength(2);
});

test("[UTP-12-3] [UTP-W08-T1] a suspended turn with all results in, and nobody told, is resumed by the reconciler", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  await commit(t, work, call("safe"));
  await still(t);
  expect(await t.engine.tendTurns.open(10)).toMatchObject({ looked: 1, resumed: 0 });
  await answerAll(t);
  await meddle(t, "loseResults");
  expect(await t.engine.tendTurns.open(10)).toMatchObject({ resumed: 1 });
  expect(await t.engine.turns.get(work)).toMatchObject({ status: "running", turnEpoch: 2 });
  expect(mustWork(await advance(t))).toMatchObject({ turnEpoch: 2, stepCount: 1 });
});

test("a turn that waits before an idle agent, or whose head went elsewhere, is helped", async () => {
  await using t = await startTurnWorld();
  const first = await t.engine.turns.spawn(asking(t));
  const second = await t.engine.turns.spawn(asking(t));
  await meddle(t, "idleHeads");
  await still(t);
  expect(await t.engine.tendTurns.open(10)).toMatchObject({ resumed: 1, reaped: 1 });
  expect(await t.engine.turns.get(first)).toMatchObject({ status: "failed", errorCode: "timeout_reaped_by_watchdog" });
  expect(mustWork(await advance(t)).agentTurnId).toBe(second.agentTurnId);
});

test("[UTP-12-4] [UTP-W10-T1] a call past its deadline gets one timeout by worker.watchdog; a result card already written is used; the turn goes on", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  const step = await commit(t, work, call("safe"), call("safe"));
  const leased = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 5 });
  const written = leased.find(({ facts }) => facts.toolCallId === step.calls[1]?.toolCallId);
  if (written === undefined) throw new RangeError("a call was expected");
  const { buildResult } = await import("@toolplane/protocol");
  const { card } = buildResult(
    {
      cardId: "in-time",
      createdAt: "2026-01-02T03:04:05.000Z",
      projectId: t.projectId,
      agentTurnId: work.agentTurnId,
      toolCallId: written.facts.toolCallId,
      authorId: written.facts.actorId,
      toolName: "safe",
      afterExecution: "suspend",
      toolCallMetadata: { ...written.facts.lineage },
    },
    { status: "success", result: { n: 1 } },
  );
  await t.engine.calls.putResultCard({
    projectId: t.projectId,
    actorId: written.facts.actorId,
    leaseId: written.lease.id,
    card,
  });
  for (const { toolCallId } of step.calls) await letPass(t, toolCallId, "run");
  await Promise.all([t.engine.expire(), t.engine.expire()]);
  expect(await t.rows("select status, settled_by, error_code from state.calls order by tool_call_id")).toEqual([
    { status: "timeout", settled_by: "worker.watchdog", error_code: "tool_timeout" },
    { status: "success", settled_by: "tool.test", error_code: null },
  ]);
  expect(
    await t.rows("select inbox_id from state.inbox where message_type in ('tool_result', 'timeout')"),
  ).toHaveLength(2);
  expect(await advance(t)).toMatchObject({ applied: 2, work: { turnEpoch: 2 } });
});

test("several processes tend at once: each row is tended once", async () => {
  await using t = await startTurnWorld({ turns: { maxClaims: 1 } });
  const other = await t.another();
  for (let i = 0; i < 10; i++) await addAgent(t, `agent_${i}`);
  for (let i = 0; i < 10; i++) {
    await t.engine.turns.spawn(asking(t, { agentId: `agent_${i}` }));
    mustWork(await advance(t, `agent_${i}`));
  }
  await lapse(t);
  const all = await Promise.all([t.engine, other, t.engine, other].map((engine) => engine.tendTurns.lapsed(4)));
  for (let round = 0; round < 5; round++) all.push(await t.engine.tendTurns.lapsed(4));
  expect(all.reduce((sum, { reaped }) => sum + reaped, 0)).toBe(10);
  expect(await events(t, "task")).toHaveLength(10);
});

test("an inactive agent begins no turn: what is queued waits, and goes on when it is active again", async () => {
  await using t = await startTurnWorld();
  const first = await takeTurn(t);
  const queued = await t.engine.turns.spawn(asking(t));
  const state = async () => (await t.engine.turns.get(queued))?.status;
  await t.engine.agents.deactivateAgent(t.projectId, "helper", "holiday");
  await t.engine.turns.finish(first, { status: "success", deliverable: "ok" });
  expect(await state()).toBe("queued");
  await still(t);
  expect(await t.engine.tendTurns.open(10)).toMatchObject({ resumed: 0, reaped: 0 });
  expect(await state()).toBe("queued");
  await t.engine.agents.activateAgent(t.projectId, "helper");
  expect(await t.engine.tendTurns.open(10)).toMatchObject({ resumed: 1 });
  expect(await state()).toBe("dispatched");
});
