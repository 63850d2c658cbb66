// Forgetting: an ended turn goes with everything of its own; what is open, young or somebody else's stays.

import { codeOf, meddle, withClient } from "@toolplane/testkit";
import { expect, test } from "vitest";
import {
  addAgent,
  advance,
  answerAll,
  asking,
  call,
  commit,
  mustWork,
  startTurnWorld,
  type TurnWorld,
  takeTurn,
} from "./turn-world.ts";

const DAY = 86_400;

const counts = async (t: TurnWorld) =>
  (
    await t.rows(
      `select (select count(*)::int from state.turns) as turns, (select count(*)::int from state.calls) as calls,
              (select count(*)::int from state.call_keys) as keys,
              (select count(*)::int from state.steps) as steps, (select count(*)::int from state.inbox) as rows,
              (select count(*)::int from state.edges) as edges, (select count(*)::int from cards.cards) as cards,
              (select count(*)::int from cards.boxes where box_id <> 'profile-box') as boxes`,
    )
  )[0];

const age = (t: TurnWorld) => meddle(t, "ageEndedTurns");

/** A turn of two days ago: its id says so too. */
const longAgo = { now: () => Date.now() - 2 * DAY * 1000, sleep: () => Promise.resolve() };

const complete = async (t: TurnWorld, more: object = {}) => {
  const work = await takeTurn(t, more);
  const keyed = { call: { toolName: "safe", arguments: {}, idempotencyKey: work.agentTurnId } };
  await commit(t, work, keyed, call("nothing"));
  await answerAll(t);
  const rest = mustWork(await advance(t, work.agentId));
  await t.engine.turns.finish(rest, { status: "success", deliverable: "done" });
  return work;
};

test("[API-T-R1] an ended turn is forgotten with its calls, their keys, steps, rows, edges, cards and boxes; an open one never", async () => {
  const { createIds } = await import("@toolplane/engine");
  await using t = await startTurnWorld({ ids: createIds(longAgo.now) });
  const before = await counts(t);
  await complete(t);
  expect(await counts(t)).toMatchObject({ calls: 1, keys: 1 });
  const open = await t.engine.turns.spawn(asking(t));
  await age(t);
  expect(await t.engine.retain({ seconds: 3 * DAY })).toMatchObject({ turns: 0 });
  expect(await t.engine.retain({ seconds: DAY })).toMatchObject({ turns: 1 });
  expect(await t.engine.turns.get(open)).toMatchObject({ status: "dispatched" });
  await t.engine.turns.stop({ ...open, actorId: "sys.api" });
  await age(t);
  expect(await t.engine.retain({ seconds: DAY })).toMatchObject({ turns: 1 });
  expect(await counts(t)).toEqual(before);
});

test("[API-T-R1] cards a turn only inherited stay; those it wrote go", async () => {
  const { createIds } = await import("@toolplane/engine");
  await using t = await startTurnWorld({ ids: createIds(longAgo.now) });
  await addAgent(t, "heir");
  const first = await complete(t);
  const kept = await t.engine.boxes.loadBox(t.projectId, first.outputBoxId);
  const second = await takeTurn(t, {
    agentId: "heir",
    context: { instruction: "go on", inheritBoxIds: [first.outputBoxId] },
  });
  await t.engine.turns.finish(second, { status: "success", deliverable: "on" });
  await meddle(t, "ageEndedTurn", [second.agentTurnId]);
  expect(await t.engine.retain({ seconds: DAY })).toMatchObject({ turns: 1 });
  expect(await t.engine.cards.getCards(t.projectId, kept?.cardIds ?? [])).toHaveLength(kept?.length ?? -1);
});

test.each([
  ["its box", (boxId: string) => ({ boxId })],
  ["its cards", (boxId: string) => ({ instruction: "go on", inheritBoxIds: [boxId] })],
])("[API-T-R1] a turn stays while another that was given %s is open, and goes afterwards", async (_, contextOf) => {
  await using t = await startTurnWorld();
  await addAgent(t, "heir");
  const first = await complete(t);
  const second = await takeTurn(t, { agentId: "heir", context: contextOf(first.outputBoxId) });
  await complete(t);
  const given = await t.engine.boxes.loadBoxCards(t.projectId, second.contextBoxId);
  expect(await t.engine.retain({ seconds: 0 })).toMatchObject({ turns: 1 });
  expect(await t.engine.boxes.loadBoxCards(t.projectId, second.contextBoxId)).toEqual(given);
  await t.engine.turns.finish(second, { status: "success", deliverable: "on" });
  expect(await t.engine.retain({ seconds: 0 })).toMatchObject({ turns: 2 });
});

test("[API-T-R2] a project with a queued turn is not deleted, unless forced", async () => {
  await using t = await startTurnWorld();
  await t.engine.turns.spawn(asking(t));
  expect(await codeOf(t.engine.projects.deleteProject(t.projectId))).toBe("conflict");
  await t.engine.projects.deleteProject(t.projectId, { force: true });
  expect(await counts(t)).toMatchObject({ turns: 0, rows: 0, cards: 0 });
});

test("[API-T-R5] the box a turn made stays as long as a later turn of its agent writes into it, and goes with the last", async () => {
  await using t = await startTurnWorld();
  const boxes = () => t.rows("select box_id from cards.boxes where box_id <> 'profile-box' and length > 0");
  const first = await complete(t);
  const second = await takeTurn(t, { outputBoxId: first.outputBoxId });
  expect(await t.engine.retain({ seconds: 0 })).toMatchObject({ turns: 1 });
  await commit(t, second, call("safe"));
  await answerAll(t);
  await t.engine.turns.finish(mustWork(await advance(t)), { status: "success", deliverable: "went on" });
  const cards = (await t.engine.boxes.loadBoxCards(t.projectId, first.outputBoxId)) ?? [];
  expect(cards.map(({ type }) => type)).toEqual(["agent.thought", "tool.call", "tool.result", "task.deliverable"]);
  expect(await t.rows("select last_output_box_id from state.heads")).toEqual([
    { last_output_box_id: first.outputBoxId },
  ]);
  expect(await t.engine.retain({ seconds: 0 })).toMatchObject({ turns: 1 });
  expect(await boxes()).toEqual([]);
  expect(await t.rows("select last_output_box_id from state.heads")).toEqual([{ last_output_box_id: null }]);
});

test("[API-T-R5] forgetting waits for nobody: the turns of an agent whose head is held are left to the next run", async () => {
  await using t = await startTurnWorld();
  await addAgent(t, "other");
  await complete(t);
  await complete(t, { agentId: "other" });
  await withClient(t, async (client) => {
    await client.query("begin");
    await client.query("select from state.heads where agent_id = 'helper' for update");
    expect(await t.engine.retain({ seconds: 0 })).toMatchObject({ turns: 1 });
    await client.query("commit");
  });
  expect(await t.engine.retain({ seconds: 0 })).toMatchObject({ turns: 1 });
});
