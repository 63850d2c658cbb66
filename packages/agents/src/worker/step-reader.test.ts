import type { Clock, TurnBoxesAsk } from "@toolplane/engine";
import type { Card } from "@toolplane/protocol";
import { parseProfileCard } from "@toolplane/protocol/registry";
import { expect, test } from "vitest";
import { createStepReader, type StepReaderEngine } from "./step-reader.ts";

const profile = (allowed_tools: readonly string[] | null) =>
  parseProfileCard({ name: "n", worker_target: "pool", allowed_tools });

const open = () => {
  const reads = { boxes: [] as string[][], profiles: 0, lists: 0 };
  let ring = (): void => {};
  let now = 0;
  const engine = {
    turns: {
      readBoxes: async (asks: readonly TurnBoxesAsk[]) => {
        reads.boxes.push(asks.map(({ projectId, contextBoxId }) => `${projectId}/${contextBoxId}`));
        return asks.map(({ outputBoxId }) => ({ context: [], output: [{ card_id: outputBoxId } as Card] }));
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
  const reader = createStepReader({ engine, clock });
  return { reader, reads, ring: () => ring(), pass: (ms: number) => (now += ms) };
};

test("boxes of steps that are asked for together are one read", async () => {
  const { reader, reads } = open();
  const ask = (projectId: string, n: number) =>
    reader.boxes({ projectId, contextBoxId: `c${n}`, outputBoxId: `o${n}` });
  const answers = await Promise.all([ask("p", 1), ask("p", 2), ask("q", 3)]);
  expect(reads.boxes).toEqual([["p/c1", "p/c2", "q/c3"]]);
  expect(answers.map(({ output }) => output[0]?.card_id)).toEqual(["o1", "o2", "o3"]);
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
