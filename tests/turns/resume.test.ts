// The resume table of the protocol (utp 7.5): the rows that can occur, by making them occur. Those that cannot are in
// resume-shut.test.ts.

import type { FaultPoint } from "@toolplane/engine/internal";
import { codeOf, createLatch, fingerprint, meddle, resultFor } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { dueNow, head, inbox, leaseAll, suspend } from "./resume-world.ts";
import {
  addAgent,
  advance,
  answerAll,
  asking,
  call,
  commit,
  events,
  mustWork,
  startTurnWorld,
  takeTurn,
} from "./turn-world.ts";

describe("rows that occur", () => {
  test("[UTP-7.5-0] row 0: a row that cannot be replayed becomes error, and the turn goes on by its calls", async () => {
    await using t = await startTurnWorld();
    await suspend(t, "safe", "safe");
    await answerAll(t);
    await meddle(t, "breakFirstResult");
    await meddle(t, "breakLastResult");
    expect(await advance(t)).toMatchObject({ applied: 2, work: { turnEpoch: 2 } });
    expect((await inbox(t)).map(({ status }) => status)).toEqual(["error", "error"]);
  });

  test("[UTP-7.5-2] [UTP-7.2-3] row 2: without a head a result is tried again, three times, and then set aside", async () => {
    await using t = await startTurnWorld();
    await suspend(t, "safe");
    await answerAll(t);
    await meddle(t, "loseHeads");
    for (let retries = 1; retries <= 3; retries++) {
      await advance(t);
      expect(await inbox(t)).toEqual([{ status: "deferred", reason: "state_not_found", error: null, retries }]);
      await dueNow(t);
    }
    await advance(t);
    expect(await inbox(t)).toMatchObject([{ status: "error", error: "resume_retry_exhausted" }]);
  });

  test("[UTP-7.5-3] [UTP-3-14] [INV-I2-T1] row 3: a result of another turn or epoch is consumed and changes nothing", async () => {
    await using t = await startTurnWorld();
    const { work } = await suspend(t, "safe");
    const [leased] = await leaseAll(t);
    await t.engine.turns.stop({ ...work, actorId: "sys.api" });
    expect(leased).toBeDefined();
    await meddle(t, "offerResultsOfFirstEpoch");
    const next = await takeTurn(t);
    expect(next.turnEpoch).toBe(3);
    expect((await inbox(t)).map(({ status }) => status)).toEqual(["consumed"]);
    expect(await head(t)).toMatchObject({ status: "running", epoch: 3 });
    const box = await t.engine.boxes.loadBox(t.projectId, next.outputBoxId);
    expect(box?.length).toBe(0);
  });

  test("[UTP-7.5-4] row 4: a result that meets a running turn waits, however often it is looked at (W-11)", async () => {
    await using t = await startTurnWorld();
    const { work } = await suspend(t, "safe");
    await answerAll(t);
    await meddle(t, "runHeads");
    for (let retries = 1; retries <= 6; retries++) {
      await advance(t);
      expect(await inbox(t)).toMatchObject([{ status: "deferred", reason: "turn_running_not_suspended", retries }]);
      await dueNow(t);
    }
    await meddle(t, "suspendHeads");
    expect(await advance(t)).toMatchObject({ applied: 1, work: { agentTurnId: work.agentTurnId } });
  });

  test("[UTP-7.5-4] [INV-I4-T1] row 4 by itself cannot occur: calls become visible in the commit that suspends", async () => {
    const written = createLatch();
    const looked = createLatch();
    const at = async (point: FaultPoint): Promise<void> => {
      if (point !== "commit:before-commit") return;
      written.open();
      await looked.opened;
    };
    await using t = await startTurnWorld({ faults: { at } });
    const work = await takeTurn(t);
    const seen: string[] = [];
    const look = async (): Promise<void> => {
      const [row] = await t.rows<{ calls: number; status: string }>(
        "select (select count(*)::int from state.calls) as calls, status from state.heads",
      );
      seen.push(`${row?.calls} ${row?.status}`);
    };
    let over = false;
    const step = commit(t, work, call("safe")).finally(() => {
      over = true;
    });
    await written.opened;
    await look();
    looked.open();
    while (!over) await look();
    await step;
    await look();
    // Before the commit, and from the commit on; nothing in between.
    expect([seen.at(0), seen.at(-1)]).toEqual(["0 running", "1 suspended"]);
    expect(new Set(seen).size).toBe(2);
  });

  test("[UTP-7.5-5] row 5: a result for an idle or dispatched head is consumed and changes nothing", async () => {
    await using t = await startTurnWorld();
    await suspend(t, "safe");
    await answerAll(t);
    for (const status of ["idle", "dispatched"]) {
      await meddle(t, "setHeads", [status]);
      await meddle(t, "offerResultsAgain");
      expect(await advance(t)).toMatchObject({ applied: 0 });
      expect((await inbox(t)).map((row) => row.status)).toEqual(["consumed"]);
      expect(await head(t)).toMatchObject({ status, epoch: 1 });
    }
  });

  test("[UTP-7.5-12] [UTP-7.5-27] row 12: a card that cannot be read is tried again; after that the turn fails whole", async () => {
    await using t = await startTurnWorld();
    const { work } = await suspend(t, "safe");
    await answerAll(t);
    await meddle(t, "loseResultCards");
    for (let retries = 1; retries <= 3; retries++) {
      await advance(t);
      expect(await inbox(t)).toMatchObject([{ status: "deferred", reason: "tool_result_card_not_found", retries }]);
      await dueNow(t);
    }
    const { ended } = await advance(t);
    expect(ended).toMatchObject({ status: "failed", errorCode: "resume_retry_exhausted" });
    const cards = await t.engine.boxes.loadBoxCards(t.projectId, work.outputBoxId);
    expect(cards?.map(({ type }) => type)).toEqual(["agent.thought", "tool.call", "tool.result", "task.deliverable"]);
    expect((await events(t, "task")).map(({ payload }) => payload)).toMatchObject([
      { status: "failed", error_code: "resume_retry_exhausted", deliverable_card_id: ended?.deliverableCardId },
    ]);
    expect(await head(t)).toMatchObject({ status: "idle" });
  });

  test("[UTP-7.5-15] rows 15 and 16: a result nobody waits for, or one that counts already, is consumed", async () => {
    await using t = await startTurnWorld();
    const { step } = await suspend(t, "safe", "safe");
    const [first] = await leaseAll(t);
    if (first === undefined) throw new RangeError("a call was expected");
    await t.engine.calls.settle(resultFor(first));
    expect((await advance(t)).applied).toBe(1);
    await meddle(t, "offerResultsAgain");
    await meddle(t, "forgeResult");
    const before = await head(t);
    expect((await advance(t)).applied).toBe(0);
    expect((await inbox(t)).map(({ status }) => status)).toEqual(["consumed", "consumed"]);
    expect(await head(t)).toEqual(before);
    expect(step.calls).toHaveLength(2);
  });

  test("[UTP-7.3-2] row 21: of several who apply one result exactly one does", async () => {
    await using t = await startTurnWorld();
    const other = await t.another();
    await suspend(t, "safe");
    await answerAll(t);
    const request = { projectId: t.projectId, agentId: "helper", workerId: "w", takeWork: true };
    const all = await Promise.all([t.engine, other, t.engine, other].map((engine) => engine.turns.advance(request)));
    expect(all.map(({ applied }) => applied).sort()).toEqual([0, 0, 0, 1]);
    expect(all.filter(({ work }) => work !== undefined)).toHaveLength(1);
    expect(await t.rows("select inbox_id from state.inbox where message_type = 'continuation'")).toHaveLength(1);
  });

  test("[UTP-7.5-22] row 22: while others are awaited the turn stays suspended and says how many; their deadlines are their own", async () => {
    await using t = await startTurnWorld();
    await suspend(t, "safe", "safe", "safe");
    const deadlines = () =>
      t.rows("select tool_call_id, queue_deadline from state.calls where settled_at is null order by 1");
    const leased = await leaseAll(t);
    const before = (await deadlines()).slice(1);
    const [first] = [...leased].sort((a, b) => (a.facts.toolCallId < b.facts.toolCallId ? -1 : 1));
    if (first !== undefined) await t.engine.calls.settle(resultFor(first));
    expect(await advance(t)).toMatchObject({ applied: 1, workLeft: false });
    expect(await head(t)).toEqual({ status: "suspended", epoch: 1, waiting: 2 });
    expect(await deadlines()).toEqual(before);
    expect((await events(t, "state")).at(-1)?.payload).toMatchObject({
      status: "suspended",
      metadata: { activity: "awaiting_tool_result", waiting_tool_count: 2 },
    });
  });

  test("[UTP-7.5-23] [INV-I5-T1] [UTP-W09-T1] row 23: the last result runs the turn again, epoch+1, with a continuation that is a row", async () => {
    await using t = await startTurnWorld();
    const { work } = await suspend(t, "safe");
    await answerAll(t);
    expect(await advance(t, "helper", false)).toEqual({ applied: 1, workLeft: true });
    expect(await head(t)).toEqual({ status: "running", epoch: 2, waiting: 0 });
    expect(
      await t.rows("select status, turn_epoch::int as epoch from state.inbox where message_type = 'continuation'"),
    ).toEqual([{ status: "pending", epoch: 2 }]);
    // Another process, later: nothing of it was in anybody's memory.
    const other = await t.another();
    const taken = await other.turns.advance({
      projectId: t.projectId,
      agentId: "helper",
      workerId: "w2",
      takeWork: true,
    });
    expect(mustWork(taken)).toMatchObject({ agentTurnId: work.agentTurnId, turnEpoch: 2, stepCount: 1 });
  });

  test.each([
    ["success", { status: "success", result: { ok: true } }, null],
    ["failed", { status: "failed", error: { code: "tool_error", message: "no such thing" } }, "no such thing"],
  ])(
    "[UTP-7.5-24] [UTP-7.5-26] row 24: a result that says terminate ends the turn as %s, and the next begins",
    async (status, given, error) => {
      await using t = await startTurnWorld();
      const { work } = await suspend(t, "ender", "safe");
      const next = await t.engine.turns.spawn(asking(t));
      await answerAll(t, given as object);
      const { ended, workLeft } = await advance(t);
      expect(ended).toMatchObject({ agentTurnId: work.agentTurnId, status, error });
      expect(workLeft).toBe(true);
      const [card] = await t.engine.cards.getCards(t.projectId, [ended?.deliverableCardId ?? ""]);
      expect(card).toMatchObject({
        type: "task.deliverable",
        metadata: { terminated_by_tool: true, terminal_reason: `tool_terminated:${status}` },
        content: { data: { kind: "fallback_deliverable", diagnostics: { tool_result_count: 2 } } },
      });
      expect((await events(t, "task")).map(({ payload }) => payload.status)).toEqual([status]);
      expect((await events(t, "step")).map(({ payload }) => payload.phase)).toEqual(["completed"]);
      expect(mustWork(await advance(t)).agentTurnId).toBe(next.agentTurnId);
    },
  );

  test("[UTP-D13-T1] a terminating result ends the turn only when all results of the step are in", async () => {
    await using t = await startTurnWorld();
    await suspend(t, "ender", "safe");
    const leased = await leaseAll(t);
    const ender = leased.find(({ facts }) => facts.toolName === "ender");
    if (ender !== undefined) await t.engine.calls.settle(resultFor(ender));
    expect(await advance(t)).toMatchObject({ applied: 1 });
    expect(await head(t)).toMatchObject({ status: "suspended", waiting: 1 });
    for (const one of leased) if (one !== ender) await t.engine.calls.settle(resultFor(one));
    expect((await advance(t)).ended).toMatchObject({ status: "success" });
  });

  test("the override in a result ends the turn too; the card's own word stays the command's", async () => {
    await using t = await startTurnWorld();
    await suspend(t, "safe");
    await answerAll(t, { result: { __cg_control: { after_execution: "terminate" } } });
    expect((await advance(t)).ended).toMatchObject({ status: "success" });
  });

  test("[UTP-7.5-25] [UTP-7.1-3] results enter the output box in the order of the calls, each once, whoever was first", async () => {
    await using t = await startTurnWorld();
    const { work, step } = await suspend(t, "safe", "unsafe", "safe");
    const leased = [...(await leaseAll(t))].sort((a, b) => (a.facts.toolCallId < b.facts.toolCallId ? 1 : -1));
    for (const one of leased) {
      await t.engine.calls.settle(resultFor(one));
      await advance(t, "helper", false);
    }
    const cards = (await t.engine.boxes.loadBoxCards(t.projectId, work.outputBoxId)) ?? [];
    const results = cards.filter(({ type }) => type === "tool.result").map(({ tool_call_id }) => tool_call_id);
    expect(results).toEqual(step.calls.map(({ toolCallId }) => toolCallId));
    expect(
      await t.rows(
        "select count(*)::int as n from state.calls where applied_at is not null and result_chain_seq is not null",
      ),
    ).toEqual([{ n: 3 }]);
    await t.engine.turns.finish(mustWork(await advance(t)), { status: "success", deliverable: "ok" });
    const [idle] = await t.rows(
      "select status, active_agent_turn_id, active_channel_id, trace_id, context_box_id, output_box_id, resume_deadline, active_recursion_depth, waiting_tool_count, profile_box_id, last_output_box_id from state.heads",
    );
    expect(idle).toEqual({
      status: "idle",
      active_agent_turn_id: null,
      active_channel_id: null,
      trace_id: null,
      context_box_id: null,
      output_box_id: null,
      resume_deadline: null,
      active_recursion_depth: 0,
      waiting_tool_count: 0,
      profile_box_id: "profile-box",
      last_output_box_id: work.outputBoxId,
    });
  });
});

test("[UTP-W08-T1] a turn whose results are all in and whose rows are gone is resumed by whoever looks", async () => {
  await using t = await startTurnWorld();
  await addAgent(t, "other");
  const { work } = await suspend(t, "safe", "safe");
  await answerAll(t);
  await meddle(t, "loseResults");
  expect(await advance(t)).toMatchObject({ applied: 2, work: { agentTurnId: work.agentTurnId, turnEpoch: 2 } });
});

test("[UTP-6.2-1] a result finds its turn by its call; one for another epoch or an unknown call is refused or changes nothing", async () => {
  await using t = await startTurnWorld();
  await suspend(t, "safe");
  const before = await fingerprint(t);
  const unknown = {
    projectId: t.projectId,
    toolCallId: "nothing",
    actorId: "tool.test",
    outcome: { given: { status: "success" } },
  };
  expect(await codeOf(t.engine.calls.settle(unknown))).toBe("not_found");
  expect(
    await codeOf(t.engine.turns.stop({ projectId: t.projectId, agentTurnId: "turn_nothing", actorId: "sys.api" })),
  ).toBe("not_found");
  expect(await fingerprint(t)).toBe(before);
});
