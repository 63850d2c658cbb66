// The rows of the resume table (utp 7.5) that cannot occur: settling is the only door to a turn, and it is shut to them.

import type { LeasedCall } from "@toolplane/engine";
import { createToolResultCard, type JsonObject } from "@toolplane/protocol";
import { codeOf, fingerprint, letPass, resultFor } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { head, inbox, leaseAll, suspend } from "./resume-world.ts";
import { advance, answerAll, call, startTurnWorld, type TurnWorld, takeTurn, thought } from "./turn-world.ts";

describe("rows that cannot occur, because settling is the only door", () => {
  /** Everything that is refused leaves the turn as it was; afterwards a good result still counts. */
  const refused = async (t: TurnWorld, attempt: (leased: LeasedCall) => Promise<unknown>) => {
    await suspend(t, "safe");
    const [leased] = await leaseAll(t);
    if (leased === undefined) throw new RangeError("a call was expected");
    const before = await fingerprint(t);
    const code = await codeOf(attempt(leased));
    const after = await fingerprint(t);
    expect(after).toBe(before);
    await t.engine.calls.settle(resultFor(leased));
    expect(await advance(t)).toMatchObject({ applied: 1, work: { turnEpoch: 2 } });
    return code;
  };

  const resultCard = (leased: LeasedCall, change: Partial<Parameters<typeof createToolResultCard>[0]> = {}) =>
    createToolResultCard({
      cardId: `card-${leased.facts.toolCallId}`,
      projectId: leased.facts.projectId,
      createdAt: "2026-01-02T03:04:05.000Z",
      authorId: leased.facts.actorId,
      agentTurnId: leased.facts.agentTurnId,
      toolCallId: leased.facts.toolCallId,
      functionName: leased.facts.toolName,
      lineage: leased.facts.lineage as JsonObject,
      content: {
        __type__: "ToolResultContent",
        status: "success",
        after_execution: "suspend",
        result: { ok: true },
        error: null,
      },
      ...change,
    });

  const put = (t: TurnWorld, leased: LeasedCall, card: ReturnType<typeof resultCard>) =>
    t.engine.calls.putResultCard({
      projectId: t.projectId,
      actorId: leased.facts.actorId,
      leaseId: leased.lease.id,
      card,
    });

  const send = (t: TurnWorld, leased: LeasedCall, payload: JsonObject, more: { readonly toolCallId?: string } = {}) =>
    t.engine.calls.report({
      projectId: t.projectId,
      toolCallId: leased.facts.toolCallId,
      actorId: leased.facts.actorId,
      leaseId: leased.lease.id,
      payload,
      ...more,
    });

  const said = { status: "success", after_execution: "suspend" };

  test("[UTP-7.5-1] row 1: a report that names no call is refused at the door", async () => {
    await using t = await startTurnWorld();
    const code = await refused(t, (leased) =>
      send(t, leased, { ...said, tool_result_card_id: "x" }, { toolCallId: "" }),
    );
    expect(["protocol_violation", "bad_request", "not_found"]).toContain(code);
  });

  test.each<[string, JsonObject]>([
    ["[UTP-7.5-6] row 6: an inline result", { ...said, tool_result_card_id: "x", result: { ok: true } }],
    ["[UTP-7.5-6] row 6: a control field", { ...said, tool_result_card_id: "x", turn_epoch: 1 }],
    ["[UTP-7.5-7] row 7: no card", { ...said }],
    [
      "[UTP-7.5-9] row 9: an unknown after_execution",
      { ...said, after_execution: "explode", tool_result_card_id: "x" },
    ],
  ])("%s is refused at the door", async (_, payload) => {
    await using t = await startTurnWorld();
    expect(["protocol_violation", "bad_request", "invalid_after_execution"]).toContain(
      await refused(t, (leased) => send(t, leased, payload)),
    );
  });

  test("[UTP-7.5-8] row 8: an unknown status is taken for failed, and the turn goes on", async () => {
    await using t = await startTurnWorld();
    await suspend(t, "safe");
    await answerAll(t, { status: "splendid" });
    expect(await t.rows("select status from state.calls")).toEqual([{ status: "failed" }]);
    expect(await advance(t)).toMatchObject({ applied: 1, work: { turnEpoch: 2 } });
  });

  test("[UTP-7.5-10] row 10: a card of another type is not a result", async () => {
    await using t = await startTurnWorld();
    await suspend(t, "safe");
    const [leased] = await leaseAll(t);
    if (leased === undefined) throw new RangeError("a call was expected");
    const work = { projectId: t.projectId, agentId: "helper", agentTurnId: leased.facts.agentTurnId, stepCount: 9 };
    await t.engine.cards.putCards(t.projectId, [thought(work as Parameters<typeof thought>[0])]);
    const cardId = thought(work as Parameters<typeof thought>[0]).card_id;
    expect(await codeOf(send(t, leased, { ...said, tool_result_card_id: cardId }))).toBe("protocol_violation");
    expect(await head(t)).toMatchObject({ status: "suspended", waiting: 1 });
  });

  test("[UTP-7.5-11] [UTP-7.5-13] rows 11 and 13: the card of another call, or of no step, is not a result of this one", async () => {
    await using t = await startTurnWorld();
    await suspend(t, "safe", "safe");
    const [one, two] = await leaseAll(t);
    if (one === undefined || two === undefined) throw new RangeError("two calls were expected");
    await put(t, two, resultCard(two));
    const foreign = { ...said, tool_result_card_id: resultCard(two).card_id };
    expect(await codeOf(send(t, one, foreign))).toBe("protocol_violation");
    const stepless = resultCard(one, { cardId: "stepless", lineage: {} });
    expect(["protocol_violation", "no error"]).toContain(await codeOf(put(t, one, stepless)));
    expect(await codeOf(send(t, one, { ...said, tool_result_card_id: "stepless" }))).not.toBe("no error");
    expect(await head(t)).toMatchObject({ status: "suspended", waiting: 2 });
  });

  test("[UTP-7.5-14] row 14: of several result cards of one call the oldest counts when none was reported", async () => {
    await using t = await startTurnWorld();
    const { work } = await suspend(t, "safe");
    const [leased] = await leaseAll(t);
    if (leased === undefined) throw new RangeError("a call was expected");
    await put(t, leased, resultCard(leased, { cardId: "older" }));
    await put(t, leased, resultCard(leased, { cardId: "younger" })).catch(() => undefined);
    await letPass(t, leased.facts.toolCallId, "run");
    await t.engine.expire();
    await advance(t);
    const box = await t.engine.boxes.loadBox(t.projectId, work.outputBoxId);
    expect(box?.cardIds.at(-1)).toBe("older");
  });

  test("[UTP-7.5-17] row 17: content that is not a result cannot be written as one", async () => {
    await using t = await startTurnWorld();
    await refused(t, (leased) =>
      put(t, leased, { ...resultCard(leased), content: { __type__: "TextContent", text: "all good" } } as ReturnType<
        typeof resultCard
      >),
    );
  });

  test("[UTP-7.5-18] rows 18 and 19: the calls are what is waited for, so a step without a thought resumes all the same", async () => {
    await using t = await startTurnWorld();
    const work = await takeTurn(t);
    const step = await t.engine.turns.commitStep(work, {
      stepId: "step_bare_1",
      entries: [call("safe"), call("safe")],
    });
    expect(step.next).toBe("suspended");
    await answerAll(t);
    expect(await advance(t)).toMatchObject({ applied: 2, work: { turnEpoch: 2 } });
  });

  test("[UTP-W25-T1] row 20: progress has a channel of its own and takes nobody's place", async () => {
    await using t = await startTurnWorld();
    await suspend(t, "safe");
    const [leased] = await leaseAll(t);
    if (leased === undefined) throw new RangeError("a call was expected");
    await t.engine.emitParts(leased.facts, [{ index: 0, part: { task_watch: "running" } }]);
    expect(await advance(t)).toMatchObject({ applied: 0 });
    await t.engine.calls.settle(resultFor(leased));
    expect(await advance(t)).toMatchObject({ applied: 1 });
  });

  test("[UTP-D18-T1] a second result of a call is an accepted no-op, and a timeout after it does nothing", async () => {
    await using t = await startTurnWorld();
    await suspend(t, "safe");
    const [leased] = await leaseAll(t);
    if (leased === undefined) throw new RangeError("a call was expected");
    await t.engine.calls.settle(resultFor(leased));
    expect(await t.engine.calls.settle(resultFor(leased))).toMatchObject({ idempotent: true });
    await t.engine.expire();
    expect(await inbox(t)).toHaveLength(1);
    expect(await advance(t)).toMatchObject({ applied: 1 });
  });
});
