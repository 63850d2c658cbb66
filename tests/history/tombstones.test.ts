// What retention leaves: one small row per turn and direct call, with the end of its chain; and no decision without its call.

import { createIds } from "@toolplane/engine";
import type { Verdict } from "@toolplane/engine/internal";
import { meddle } from "@toolplane/testkit";
import { expect, test } from "vitest";
import {
  advance,
  answerAll,
  asking,
  call,
  commit,
  mustWork,
  startTurnWorld,
  type TurnWorld,
} from "../turns/turn-world.ts";

const DAY = 86_400;
const RISKY = { name: "risky", options: { approval: { policy: "required" } } } as const;

/** Ids of two days ago: retention finds what is old by its id. */
const start = (): Promise<TurnWorld> =>
  startTurnWorld({ tools: [RISKY], ids: createIds(() => Date.now() - 2 * DAY * 1000) });

const headOf = async (t: TurnWorld, agentTurnId: string): Promise<Verdict> => {
  const verdict = await t.engine.history.verify({ projectId: t.projectId, agentTurnId });
  expect(verdict).toMatchObject({ ended: true, broken: undefined });
  return verdict as Verdict;
};

const approvals = (t: TurnWorld) => t.rows("select card_id from cards.cards where type = 'call.approval'");

test("[ENG-history-7] a forgotten turn leaves the end of its chain, and its decisions go with it", async () => {
  await using t = await start();
  const { agentTurnId } = await t.engine.turns.spawn(asking(t));
  const step = await commit(t, mustWork(await advance(t)), call("risky"));
  await t.engine.approvals.approve({ projectId: t.projectId, toolCallId: step.calls[0]?.toolCallId ?? "", by: "ann" });
  await answerAll(t);
  await t.engine.turns.finish(mustWork(await advance(t)), { status: "success", deliverable: "ok" });
  const { head, links } = await headOf(t, agentTurnId);
  const [{ cards } = { cards: 0 }] = await t.rows<{ cards: number }>("select count(*)::int as cards from cards.cards");
  await meddle(t, "ageEndedTurns");
  expect(await approvals(t)).toHaveLength(1);
  expect(await t.engine.retain({ seconds: DAY })).toMatchObject({ turns: 1, tombstones: 0 });
  expect(await approvals(t)).toEqual([]);
  const key = { projectId: t.projectId, agentTurnId };
  expect(await t.engine.history.verify(key)).toBeUndefined();
  expect(await t.engine.history.tombstone(key)).toMatchObject({ chainHead: head, links, cards });
  expect(await t.engine.history.tombstone({ ...key, agentTurnId: "turn_other" })).toBeUndefined();
});

test("[ENG-history-7] a forgotten direct call leaves the end of its chain, and a reader is told so", async () => {
  await using t = await start();
  const { toolCallId } = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "risky", arguments: {} });
  const key = { projectId: t.projectId, toolCallId };
  await t.engine.approvals.deny({ ...key, by: "ann" });
  const { head } = await headOf(t, `turn_${toolCallId}`);
  await meddle(t, "ageSettlements");
  expect(await t.engine.retain({ seconds: DAY })).toMatchObject({ calls: 1 });
  expect(await approvals(t)).toEqual([]);
  const error: unknown = await t.engine.calls.get(key).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "not_found",
    message: expect.stringContaining("was forgotten at"),
    detail: { chain_head: head, links: 3, cards: 3 },
  });
  const other: unknown = await t.engine.calls.get({ ...key, toolCallId: "none" }).catch((reason: unknown) => reason);
  expect(other).toMatchObject({ code: "not_found", message: "there is no call none in this project" });
});

test("[ENG-history-7] a tombstone is forgotten after a year", async () => {
  await using t = await start();
  const { toolCallId } = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "risky", arguments: {} });
  await t.engine.calls.cancel({ projectId: t.projectId, toolCallId });
  await meddle(t, "ageSettlements");
  await t.engine.retain({ seconds: DAY });
  expect(await t.engine.retain({ seconds: DAY })).toMatchObject({ tombstones: 0 });
  await meddle(t, "ageTombstones");
  expect(await t.engine.retain({ seconds: DAY })).toMatchObject({ tombstones: 1 });
  expect(await t.rows("select from state.tombstones")).toEqual([]);
});
