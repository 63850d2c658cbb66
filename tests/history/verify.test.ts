// The history of a turn: every thing that happened is a link, and whatever is changed afterwards is named by the verifier.

import type { LeasedCall, Work } from "@toolplane/engine";
import type { Verdict } from "@toolplane/engine/internal";
import { buildResult } from "@toolplane/protocol";
import { dispatchAndClaim, meddle, resultFor, TEST_ACTOR } from "@toolplane/testkit";
import { expect, test } from "vitest";
import {
  advance,
  answerAll,
  asking,
  call,
  commit,
  events,
  mustWork,
  startTurnWorld,
  type TurnWorld,
} from "../turns/turn-world.ts";

const RISKY = { name: "risky", options: { approval: { policy: "required" } } } as const;
const TOOLS = [{ name: "safe", options: { retry: "safe" } }, RISKY] as const;

const start = (): Promise<TurnWorld> => startTurnWorld({ tools: TOOLS });

/** A box with two cards of somebody else. */
const inheritedBox = async (t: TurnWorld): Promise<string> => {
  const ids = ["old-1", "old-2"];
  await t.engine.cards.putCards(
    t.projectId,
    ids.map((cardId) => ({
      card_id: cardId,
      project_id: t.projectId,
      type: "sys.note",
      content: { __type__: "TextContent", text: cardId },
      created_at: "2026-01-02T03:04:05.000Z",
      author_id: "sys.api",
      metadata: {},
      tool_calls: null,
      tool_call_id: null,
      ttl_seconds: null,
    })),
  );
  return t.engine.boxes.createBox(t.projectId, ids);
};

interface Told {
  readonly work: Work;
  readonly safe: string;
  readonly risky: string;
}

/** A turn with an inherited context, a call, an approved call and a deliverable. */
const tell = async (t: TurnWorld): Promise<Told> => {
  const inheritBoxIds = [await inheritedBox(t)];
  await t.engine.turns.spawn(
    asking(t, { context: { instruction: "count the words", inheritBoxIds }, payload: { amount: 1 } }),
  );
  const work = mustWork(await advance(t));
  const step = await commit(t, work, call("safe"), call("risky"));
  const [safe = "", risky = ""] = step.calls.map(({ toolCallId }) => toolCallId);
  await t.engine.approvals.approve({ projectId: t.projectId, toolCallId: risky, by: "ann" });
  await answerAll(t);
  await t.engine.turns.finish(mustWork(await advance(t)), { status: "success", deliverable: "ok" });
  return { work, safe, risky };
};

const verify = async (t: TurnWorld, agentTurnId: string): Promise<Verdict> => {
  const verdict = await t.engine.history.verify({ projectId: t.projectId, agentTurnId });
  if (verdict === undefined) throw new RangeError("there is no such turn");
  return verdict;
};

const cardOf = async (t: TurnWorld, type: string): Promise<string> => {
  const [row] = await t.rows<{ card_id: string }>(
    "select card_id from cards.cards where type = $1 order by chain_seq",
    [type],
  );
  return row?.card_id ?? "";
};

test("[ENG-history-1] the chain covers task, context, instruction, calls, approval, results and deliverable; its end is in the task event", async () => {
  await using t = await start();
  const { work } = await tell(t);
  const verdict = await verify(t, work.agentTurnId);
  // task and context, instruction, thought, two calls, a result, a decision, a result, the deliverable
  expect(verdict).toMatchObject({ version: 2, ended: true, links: 9, broken: undefined, gone: [] });
  expect((await events(t, "task"))[0]?.payload).toMatchObject({ chain_head: verdict.head });
});

type Tampering = readonly [
  string,
  (t: TurnWorld, told: Told) => Promise<unknown>,
  Partial<NonNullable<Verdict["broken"]>>,
];

const TAMPERINGS: readonly Tampering[] = [
  ["the task's payload", (t, { work }) => meddle(t, "forgePayload", [work.agentTurnId]), { seq: 1, what: "task" }],
  [
    "the text of an inherited card",
    (t) => meddle(t, "changeCardText", ["old-1"]),
    { seq: 1, what: "context", id: "old-1" },
  ],
  ["an inherited card and its hash", (t) => meddle(t, "forgeCard", ["old-1"]), { seq: 1, what: "context" }],
  [
    "the order of the inherited cards",
    async (t, { work }) => {
      await meddle(t, "shuffleContext", [work.agentTurnId]);
    },
    { seq: 1, what: "context" },
  ],
  [
    "the context that never was",
    (t, { work }) => meddle(t, "forgeContext", [work.agentTurnId]),
    { seq: 1, what: "task" },
  ],
  [
    "the text of the instruction",
    async (t) => meddle(t, "changeCardText", [await cardOf(t, "task.instruction")]),
    { seq: 2, what: "card" },
  ],
  [
    "the instruction and its hash",
    async (t) => meddle(t, "forgeCard", [await cardOf(t, "task.instruction")]),
    { seq: 2, what: "card" },
  ],
  [
    "the instruction that is gone",
    async (t) => meddle(t, "loseCard", [await cardOf(t, "task.instruction")]),
    { seq: 2, id: null },
  ],
  [
    "the order of two cards",
    async (t) => meddle(t, "swapLinks", [await cardOf(t, "agent.thought"), await cardOf(t, "tool.call")]),
    { seq: 3 },
  ],
  ["a decision", (t, { risky }) => meddle(t, "forgeCard", [`approval_${risky}`]), { seq: 7, what: "approval" }],
  [
    "a decision that is gone",
    (t, { risky }) => meddle(t, "loseCard", [`approval_${risky}`]),
    { seq: 7, what: "approval" },
  ],
  ["a decision that never was", (t, { risky }) => meddle(t, "hideDecision", [risky]), { seq: 7 }],
  [
    "a result and its hash",
    async (t, { safe }) => {
      const { resultCardId } = await t.engine.calls.get({ projectId: t.projectId, toolCallId: safe });
      await meddle(t, "forgeCard", [resultCardId]);
    },
    { seq: 6, what: "result" },
  ],
  ["a result that was never read", (t, { safe }) => meddle(t, "unlinkResult", [safe]), { seq: 6, id: null }],
  [
    "the deliverable",
    async (t) => meddle(t, "forgeCard", [await cardOf(t, "task.deliverable")]),
    { seq: 9, what: "card" },
  ],
  ["the end", (t, { work }) => meddle(t, "forgeEnd", [work.agentTurnId]), { seq: 9, what: "end" }],
];

test.each(TAMPERINGS)("[ENG-history-2] the verifier names %s when it was changed", async (_, tamper, expected) => {
  await using t = await start();
  const told = await tell(t);
  expect((await verify(t, told.work.agentTurnId)).broken).toBeUndefined();
  await tamper(t, told);
  const { broken, head } = await verify(t, told.work.agentTurnId);
  expect(broken).toMatchObject(expected);
  expect(head).toBeNull();
});

test("[ENG-history-3] [INV-I7-E1] a turn that was given a box as it is covers that box as it was, also when it grows later", async () => {
  await using t = await start();
  const boxId = await inheritedBox(t);
  const spawned = await t.engine.turns.spawn(asking(t, { context: { boxId } }));
  await t.engine.turns.finish(mustWork(await advance(t)), { status: "success", deliverable: "ok" });
  await meddle(t, "appendToBox", [t.projectId, boxId, "old-1"]);
  expect(await verify(t, spawned.agentTurnId)).toMatchObject({ links: 2, broken: undefined, gone: [] });
  await meddle(t, "loseCard", ["old-2"]);
  expect(await verify(t, spawned.agentTurnId)).toMatchObject({ broken: undefined, gone: ["old-2"] });
  await meddle(t, "changeCardText", ["old-1"]);
  expect((await verify(t, spawned.agentTurnId)).broken).toMatchObject({ what: "context", id: "old-1" });
});

test("[ENG-history-4] an open turn, a queued one and a stopped one can be checked as far as they have come", async () => {
  await using t = await start();
  const open = await t.engine.turns.spawn(asking(t));
  const queued = await t.engine.turns.spawn(asking(t));
  expect(await verify(t, queued.agentTurnId)).toMatchObject({ ended: false, links: 2, broken: undefined });
  const work = mustWork(await advance(t));
  await commit(t, work, call("safe"));
  expect(await verify(t, open.agentTurnId)).toMatchObject({ ended: false, links: 4, broken: undefined });
  await t.engine.turns.stop({ ...queued, actorId: "sys.api" });
  await t.engine.turns.stop({ ...open, actorId: "sys.api" });
  for (const { agentTurnId } of [open, queued])
    expect(await verify(t, agentTurnId)).toMatchObject({ ended: true, broken: undefined });
  expect(await t.engine.history.verify({ projectId: t.projectId, agentTurnId: "turn_none" })).toBeUndefined();
  expect(await t.engine.history.verify({ projectId: t.projectId, agentTurnId: "a\u0000b" })).toBeUndefined();
});

const direct = async (t: TurnWorld, toolName: string, decide?: "approve" | "deny"): Promise<string> => {
  const { toolCallId } = await t.engine.calls.dispatch({ projectId: t.projectId, toolName, arguments: {} });
  if (decide !== undefined) await t.engine.approvals[decide]({ projectId: t.projectId, toolCallId, by: "ann" });
  await answerAll(t);
  return toolCallId;
};

test("[ENG-history-5] a direct call is a turn whose last link is its result, after the decision about it", async () => {
  await using t = await start();
  const { toolCallId: waiting } = await t.engine.calls.dispatch({
    projectId: t.projectId,
    toolName: "risky",
    arguments: {},
  });
  expect(await verify(t, `turn_${waiting}`)).toMatchObject({ ended: false, links: 1, broken: undefined });
  await t.engine.calls.cancel({ projectId: t.projectId, toolCallId: waiting });
  expect(await verify(t, `turn_${waiting}`)).toMatchObject({ ended: true, links: 2, broken: undefined });
  for (const [call, links] of [
    [await direct(t, "safe"), 2],
    [await direct(t, "risky", "approve"), 3],
    [await direct(t, "risky", "deny"), 3],
  ] as const)
    expect(await verify(t, `turn_${call}`)).toMatchObject({ version: 2, ended: true, links, broken: undefined });
});

const CALL_TAMPERINGS: readonly (readonly [
  string,
  (t: TurnWorld, call: string) => Promise<unknown>,
  Partial<NonNullable<Verdict["broken"]>>,
])[] = [
  ["the call", async (t) => meddle(t, "forgeCard", [await cardOf(t, "tool.call")]), { seq: 1, what: "card" }],
  ["the decision", (t, call) => meddle(t, "forgeCard", [`approval_${call}`]), { seq: 2, what: "approval" }],
  [
    "the text of the result",
    async (t) => meddle(t, "changeCardText", [await cardOf(t, "tool.result")]),
    { seq: 3, what: "result" },
  ],
  [
    "the result and its hash",
    async (t) => meddle(t, "forgeCard", [await cardOf(t, "tool.result")]),
    { seq: 3, what: "result" },
  ],
  ["the result that is not linked", (t, call) => meddle(t, "unlinkResult", [call]), { what: "end" }],
  ["the end", (t, call) => meddle(t, "forgeCallEnd", [call]), { seq: 3 }],
];

test.each(CALL_TAMPERINGS)("[ENG-history-6] the verifier names %s of a direct call", async (_, tamper, expected) => {
  await using t = await start();
  const call = await direct(t, "risky", "approve");
  await tamper(t, call);
  expect((await verify(t, `turn_${call}`)).broken).toMatchObject(expected);
});

const WRITTEN: readonly (readonly [string, (t: TurnWorld, leased: LeasedCall, made: Made) => Promise<unknown>])[] = [
  [
    "reported",
    (t, { facts, lease }, { payload }) =>
      t.engine.calls.report({ ...facts, actorId: TEST_ACTOR, leaseId: lease.id, payload }),
  ],
  ["found when its call is canceled", (t, { facts }) => t.engine.calls.cancel(facts)],
  ["said again in one step", (t, leased) => t.engine.calls.settle(resultFor(leased))],
];

type Made = ReturnType<typeof buildResult>;

test.each(WRITTEN)(
  "[ENG-history-5] a result card that was written before and is %s is the last link",
  async (_, settle) => {
    await using t = await start();
    const leased = await dispatchAndClaim(t, "safe");
    const { facts, lease } = leased;
    const made = buildResult(
      {
        ...facts,
        cardId: "written-before",
        createdAt: "2026-01-01T00:00:00.000Z",
        authorId: TEST_ACTOR,
        toolCallMetadata: { ...facts.lineage },
      },
      { status: "success", result: { ok: true } },
    );
    await t.engine.calls.putResultCard({
      projectId: t.projectId,
      actorId: TEST_ACTOR,
      leaseId: lease.id,
      card: made.card,
    });
    await settle(t, leased, made);
    expect(await t.engine.calls.get(facts)).toMatchObject({ status: "success", resultCardId: "written-before" });
    expect(await verify(t, facts.agentTurnId)).toMatchObject({ ended: true, links: 2, broken: undefined });
  },
);
