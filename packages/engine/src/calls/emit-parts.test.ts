import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { CallFacts } from "./call.ts";
import { createPartEmitter } from "./emit-parts.ts";

const facts = (toolCallId: string) =>
  ({ projectId: "demo", channelId: "public", agentId: "bot", agentTurnId: "turn_1", toolCallId }) as CallFacts;
const partsOf = (count: number, part = "x") => Array.from({ length: count }, (_, index) => ({ index, part }));

const createWorld = () => {
  const sent: { readonly tool_call_id: string; readonly index: number }[] = [];
  const emit = createPartEmitter({ publishStream: ({ payload }) => void sent.push(JSON.parse(payload)) });
  /** How many parts went at most between two moments at which other work could run. */
  const mostAtOnce = async (work: Promise<unknown>): Promise<number> => {
    let [most, isDone] = [0, false];
    const done = work.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      const before = sent.length;
      await turn();
      most = Math.max(most, sent.length - before);
    }
    await done;
    return most;
  };
  return { sent, emit, mostAtOnce };
};

test("[LIM-parts-1] the parts of sixty long lists go a few at a time, each list in its order", async () => {
  const { sent, emit, mostAtOnce } = createWorld();
  const lists = Array.from({ length: 60 }, (_, list) => emit(facts(`call_${list}`), partsOf(200)));
  expect(await mostAtOnce(Promise.all(lists))).toBeLessThanOrEqual(100);
  expect(sent).toHaveLength(12_000);
  const one = sent.filter(({ tool_call_id }) => tool_call_id === "call_7").map(({ index }) => index);
  expect(one).toEqual(partsOf(200).map(({ index }) => index));
});

test("[LIM-parts-1] a short list does not wait for the end of a long one", async () => {
  const { sent, emit } = createWorld();
  const long = emit(facts("long"), partsOf(10_000));
  await emit(facts("short"), partsOf(10));
  expect(sent.length).toBeLessThan(500);
  await long;
  expect(sent).toHaveLength(10_010);
});

test("[LIM-parts-1] large parts go fewer at a time", async () => {
  const { emit, mostAtOnce } = createWorld();
  expect(await mostAtOnce(emit(facts("large"), partsOf(40, "x".repeat(100_000))))).toBeLessThanOrEqual(4);
});
