import type { Card } from "@toolplane/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openRegistryWorld, type RegistryWorld } from "../../test/registry-world.ts";
import { insertSampleCall } from "../../test/sample-calls.ts";
import { sampleCard, sampleResult } from "../../test/sample-cards.ts";

let world: RegistryWorld;
const A = "proj_a";
const B = "proj_b";

const callCard = (toolCallId: string, stepId: string): Card =>
  sampleCard(A, {
    type: "tool.call",
    tool_call_id: toolCallId,
    content: {
      __type__: "ToolCallContent",
      tool_name: "count_words",
      arguments: {},
      status: "called",
      target_subject: null,
    },
    metadata: { tool_call_id: toolCallId, step_id: stepId },
  });

const idsOf = (cards: readonly Card[]): readonly string[] => cards.map((card) => card.card_id);

let asked1: Card;
let result1: Card;
let asked2: Card;
let candidate2: Card;

beforeAll(async () => {
  world = await openRegistryWorld();
  for (const project of [A, B])
    await world.projects.createProject({ project_id: project, title: "t", bootstrap: false }, "me");
  asked1 = callCard("tc_1", "step_1");
  asked2 = callCard("tc_2", "step_2");
  result1 = sampleResult(A, "tc_1", 1, { step_id: "step_1" });
  candidate2 = sampleResult(A, "tc_2", 2, { step_id: "step_2" });
  // One commit each: the order of writing is the order of age.
  await world.cards.putCards(A, [asked1]);
  await world.cards.putCards(A, [asked2]);
  await world.cards.putCards(A, [result1]);
  await world.cards.putCards(A, [candidate2], { candidate: true });
  await insertSampleCall(world, {
    projectId: A,
    toolCallId: "tc_1",
    status: "success",
    callCardId: asked1.card_id,
    resultCardId: result1.card_id,
  });
  await insertSampleCall(world, { projectId: A, toolCallId: "tc_2", stepId: "step_2", callCardId: asked2.card_id });
});
afterAll(() => world[Symbol.asyncDispose]());

test("[UTP-4.5-E3] by call ids: newest first, with a result that was written but not reported", async () => {
  const cards = await world.cards.getCardsOfCalls(A, ["tc_1", "tc_2", "nobody", "tc_1"]);
  expect(idsOf(cards)).toEqual([candidate2, result1, asked2, asked1].map((card) => card.card_id));
  expect(await world.cards.getCardsOfCalls(A, [])).toEqual([]);
});

test("[UTP-4.5-E3] by call ids, filtered by step and by type", async () => {
  const both = ["tc_1", "tc_2"];
  expect(await world.cards.getCardsOfCalls(A, both, { stepId: "step_2" })).toEqual([candidate2, asked2]);
  expect(await world.cards.getCardsOfCalls(A, both, { type: "tool.result" })).toEqual([candidate2, result1]);
  expect(await world.cards.getCardsOfCalls(A, both, { stepId: "step_1", type: "tool.call" })).toEqual([asked1]);
});

test("[UTP-4.5-E4] the latest card of a step by type", async () => {
  await world.ask(
    `insert into state.steps (project_id, agent_id, step_id, agent_turn_id, channel_id, status, tool_call_ids)
     values ($1, 'agent_a', 'step_2', 'turn_1', 'public', 'running', '{tc_2}')`,
    [A],
  );
  const wanted = { agentId: "agent_a", stepId: "step_2", type: "tool.result" };
  expect(await world.cards.latestCardOfStep(A, wanted)).toEqual(candidate2);
  expect(await world.cards.latestCardOfStep(A, { ...wanted, type: "task.context" })).toBeUndefined();
  expect(await world.cards.latestCardOfStep(B, wanted)).toBeUndefined();
});

test("[SEC-14-E1] another project's calls have no cards", async () => {
  expect(await world.cards.getCardsOfCalls(B, ["tc_1", "tc_2"])).toEqual([]);
});

test("more than a hundred calls at once are refused", async () => {
  const ids = Array.from({ length: 101 }, (_, i) => `tc-${i}`);
  await expect(world.cards.getCardsOfCalls(A, ids)).rejects.toMatchObject({ code: "bad_request" });
});
