import type { Clock, LongCard, LongReading, TurnBoxesAsk } from "@toolplane/engine";
import type { Card } from "@toolplane/protocol";
import { createInstructionCard } from "@toolplane/protocol/agents";
import { parseProfileCard } from "@toolplane/protocol/registry";
import { expect, test } from "vitest";
import { createStepReader, type StepReaderEngine } from "./step-reader.ts";
import { createStepRoom, type StepRoom } from "./step-room.ts";

const instruction = (cardId: string, text: string) =>
  createInstructionCard({ cardId, projectId: "p", createdAt: "2026-01-01T00:00:00.000Z", authorId: "api", text });

const profile = (allowed_tools: readonly string[] | null) =>
  parseProfileCard({ name: "n", worker_target: "pool", allowed_tools });

const open = (room?: StepRoom) => {
  const reads = { boxes: [] as string[][], long: [] as string[][], profiles: 0, lists: 0 };
  const cards = new Map<string, Card>();
  const boxes = new Map<string, LongCard[]>();
  const put = (box: string, card: Card, bytes: number): void => {
    cards.set(card.card_id, card);
    boxes.set(box, [...(boxes.get(box) ?? []), { cardId: card.card_id, type: card.type, bytes }]);
  };
  let ring = (): void => {};
  let now = 0;
  const engine = {
    turns: {
      readBoxes: async (asks: readonly TurnBoxesAsk[]) => {
        reads.boxes.push(asks.map(({ projectId, contextBoxId }) => `${projectId}/${contextBoxId}`));
        return asks.map(({ contextBoxId, outputBoxId }) => ({
          context: boxes.get(contextBoxId) ?? [],
          output: boxes.get(outputBoxId) ?? [{ card_id: outputBoxId } as Card],
        }));
      },
      readLong: async (_project: string, long: readonly LongCard[], { keep }: LongReading) => {
        reads.long.push(long.map(({ cardId }) => cardId));
        const found = long.flatMap(({ cardId }) => cards.get(cardId) ?? []);
        return new Map(found.map((card) => [card.card_id, keep(card)]));
      },
    },
    profiles: {
      loadProfile: async (_project: string, boxId: string) => {
        reads.profiles++;
        return boxId === "gone" ? undefined : profile([]);
      },
    },
    definitions: {
      resolve: async (asks: readonly { toolName: string }[]) =>
        asks.map(({ toolName }) => (toolName === "gone" ? undefined : { toolName })),
    },
    tools: {
      listTools: async (_project: string, { cursor }: { cursor?: string }) => {
        reads.lists++;
        return cursor === undefined
          ? { items: [{ toolName: "a" }], nextCursor: "more" }
          : { items: [{ toolName: "b" }, { toolName: "gone" }] };
      },
    },
    doorbell: {
      listen: (_kind: string, heard: () => void) => {
        ring = heard;
        return () => {};
      },
    },
  } as unknown as StepReaderEngine;
  const clock = { now: () => now } as Clock;
  const reader = createStepReader({ engine, clock, room });
  return { reader, reads, put, ring: () => ring(), pass: (ms: number) => (now += ms) };
};

test("boxes of steps that are asked for together are one read", async () => {
  const { reader, reads } = open();
  const ask = (projectId: string, n: number) =>
    reader.withBoxes({ projectId, contextBoxId: `c${n}`, outputBoxId: `o${n}` }, ({ output }) => output[0]?.card_id);
  const answers = await Promise.all([ask("p", 1), ask("p", 2), ask("q", 3)]);
  expect(reads.boxes).toEqual([["p/c1", "p/c2", "q/c3"]]);
  expect(answers).toEqual(["o1", "o2", "o3"]);
});

test("[SEC-memory-steps] long cards wait for room before they are read, and give it back when the step has looked at them", async () => {
  const { reader, reads, put } = open(createStepRoom(10, 5));
  for (const box of ["o1", "o2", "o3"]) put(box, instruction(`card of ${box}`, "long"), 8);
  put("o4", instruction("card of o4", "short"), 2);
  const looked = Promise.withResolvers<void>();
  const seen: string[] = [];
  const ask = (n: number, until?: Promise<void>) =>
    reader.withBoxes({ projectId: "p", contextBoxId: `c${n}`, outputBoxId: `o${n}` }, async ({ output }) => {
      seen.push(output[0]?.card_id ?? "");
      await until;
      if (n === 2) throw new TypeError("a step that fails leaves too");
    });
  const first = ask(1, looked.promise);
  const [second, third] = [ask(2), ask(3)];
  const failed = expect(second).rejects.toThrow("leaves too");
  await ask(4);
  expect(seen.toSorted()).toEqual(["card of o1", "card of o4"]);
  expect(reads.long.flat().toSorted()).toEqual(["card of o1", "card of o4"]);
  looked.resolve();
  await failed;
  await Promise.all([first, third]);
  expect(seen.slice(2)).toEqual(["card of o2", "card of o3"]);
});

test("the instruction is read before all others, then the newest cards", async () => {
  const { reader, reads, put } = open();
  put("c1", instruction("i", "do"), 100);
  put("c1", { ...instruction("d", "a document"), type: "task.context" }, 100);
  put("o1", { ...instruction("t1", "thought"), type: "agent.thought" }, 100);
  put("o1", { ...instruction("t2", "thought"), type: "agent.thought" }, 100);
  const ids = await reader.withBoxes({ projectId: "p", contextBoxId: "c1", outputBoxId: "o1" }, (boxes) =>
    [...boxes.context, ...boxes.output].map(({ card_id }) => card_id),
  );
  expect(ids).toEqual(["i", "d", "t1", "t2"]);
  expect(reads.long).toEqual([["i", "t2", "t1", "d"]]);
  expect(await reader.card("p", "t1")).toMatchObject({ card_id: "t1" });
  expect(await reader.card("p", "none")).toBeUndefined();
});

test("a profile is read once; one that is not there is asked for again", async () => {
  const { reader, reads } = open();
  await reader.profile("p", "b");
  await reader.profile("p", "b");
  expect(reads.profiles).toBe(1);
  expect(await reader.profile("p", "gone")).toBeUndefined();
  await reader.profile("p", "gone");
  expect(reads.profiles).toBe(3);
});

test("[UTP-10.2-6] a profile without a list has every tool of the project, as far as the registry has rung", async () => {
  const { reader, reads, ring, pass } = open();
  const names = async () => (await reader.tools("p", profile(null))).map(({ toolName }) => toolName);
  expect(await names()).toEqual(["a", "b"]);
  await names();
  expect(reads.lists).toBe(2);
  ring();
  await names();
  expect(reads.lists).toBe(4);
  pass(60_000);
  await names();
  expect(reads.lists).toBe(6);
  pass(-3_600_000);
  await names();
  expect(reads.lists).toBe(8);
  expect(await reader.tools("p", profile([]))).toEqual([]);
  expect((await reader.tools("p", profile(["b", "b", "gone"]))).map(({ toolName }) => toolName)).toEqual(["b"]);
  reader.close();
});
