// Turns with long cards: what a step reads of them is bounded in bytes, and a step does not hold more than what is shown.

import { type Card, createToolResultCard } from "@toolplane/protocol";
import { weighAnswers } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { type AgentPlane, openAgentPlane } from "./support/agent-plane.ts";

const MB = 1024 * 1024;
const LENGTH = 800_000;

const longResult = (projectId: string, n: number): Card =>
  createToolResultCard({
    cardId: `long-${n}`,
    projectId,
    createdAt: "2026-01-01T00:00:00.000Z",
    authorId: "tool.text",
    agentTurnId: "turn_before",
    toolCallId: `call_${n}`,
    functionName: "echo",
    content: {
      __type__: "ToolResultContent",
      status: "success",
      after_execution: "suspend",
      error: null,
      result: `begin ${n} ${"x".repeat(LENGTH)} end ${n}`,
    },
  });

const boxOfLong = async ({ engine, projectId }: AgentPlane, count: number): Promise<string> => {
  const cards = Array.from({ length: count }, (_, n) => longResult(projectId, n));
  for (let at = 0; at < count; at += 20) await engine.cards.putCards(projectId, cards.slice(at, at + 20));
  return engine.boxes.createBox(
    projectId,
    cards.map(({ card_id }) => card_id),
  );
};

test("[SEC-memory-steps] a step reads hundreds of long results in pages, shows their ends, and reads none of them twice", async () => {
  await using plane = await openAgentPlane();
  await plane.agents("ann");
  const boxId = await boxOfLong(plane, 60);
  const answers = weighAnswers(plane.engine);
  const seen: string[][] = [];
  const read = { card_id: "long-7", offset: LENGTH, length: 100 };
  await plane.startWorker(({ stepNumber, messages }) => {
    seen.push(messages.map(({ content }) => content));
    if (stepNumber === 1) return { toolCalls: [{ id: "c", name: "read_card", arguments: read }] };
    return stepNumber === 2 ? { toolCalls: [{ id: "d", name: "echo", arguments: { text: "x" } }] } : "done";
  });
  const turn = await plane.spawn("ann", "", { context: { boxId } });
  expect((await plane.ended(turn)).status).toBe("success");
  const largest = answers.reduce((most, answer) => (answer.bytes > most.bytes ? answer : most));
  expect(largest.bytes, largest.name).toBeLessThan(5 * MB);
  const all = answers.reduce((sum, { bytes }) => sum + bytes, 0);
  // Once all results, and once more the one that was asked for.
  expect(all).toBeLessThan((60 + 2) * (LENGTH + 1_000) + 2 * MB);
  expect(seen).toHaveLength(3);
  expect(seen[0]).toHaveLength(60);
  for (const [n, text] of (seen[0] ?? []).entries()) {
    expect(text).toContain(`begin ${n} xxx`);
    expect(text).toContain(`xxx end ${n}`);
    expect(text).toContain("characters;");
    expect(text.length).toBeLessThan(9_000);
  }
  expect(seen[2]?.some((text) => text.includes(" end 7") && text.includes("This is its end."))).toBe(true);
  expect(seen[2]?.slice(0, 60)).toEqual(seen[1]?.slice(0, 60));
});

test("[SEC-memory-steps] cards of an ordinary turn come in one answer; more than a megabyte of them comes in further ones, all of it", async () => {
  await using plane = await openAgentPlane();
  await plane.agents("ann");
  const { engine, projectId } = plane;
  const make = async (name: string, count: number): Promise<string> => {
    const cards = Array.from({ length: count }, (_, n) => ({
      ...longResult(projectId, n),
      card_id: `${name}-${n}`,
      content: { __type__: "TextContent", text: `${name} ${n} ${"y".repeat(20_000)}` },
      type: "task.context",
      tool_call_id: null,
      metadata: { role: "user" },
    }));
    for (let at = 0; at < count; at += 100) await engine.cards.putCards(projectId, cards.slice(at, at + 100));
    return engine.boxes.createBox(
      projectId,
      cards.map(({ card_id }) => card_id),
    );
  };
  const [few, many] = [await make("few", 10), await make("many", 200)];
  const answers = weighAnswers(engine);
  const seen: string[][] = [];
  await plane.startWorker(({ messages }) => {
    seen.push(messages.map(({ content }) => content.slice(0, 12)));
    return "done";
  });
  const names = () => answers.flatMap(({ name }) => (name.startsWith("turns.read") ? [name] : []));
  await plane.ended(await plane.spawn("ann", "", { context: { boxId: few } }));
  expect(names().filter((name) => name === "turns.read-long-cards")).toEqual([]);
  await plane.ended(await plane.spawn("ann", "", { context: { boxId: many } }));
  expect(names().filter((name) => name === "turns.read-long-cards")).toHaveLength(1);
  expect(Math.max(...answers.map(({ bytes }) => bytes))).toBeLessThan(5 * MB);
  expect(seen.map(({ length }) => length)).toEqual([10, 200]);
  expect(seen[1]).toEqual(Array.from({ length: 200 }, (_, n) => `many ${n} ${"y".repeat(20)}`.slice(0, 12)));
});
