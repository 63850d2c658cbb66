import type { Engine } from "@toolplane/engine";
import { afterEach, expect, test } from "vitest";
import type { StreamItem } from "../http/waiting-items.ts";
import { type PartWatch, watchParts } from "./watch-parts.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Calls that run for ever, and a bus whose items a test sends. */
const createWorld = () => {
  const handlers = new Set<(item: StreamItem) => void>();
  const engine = {
    bus: {
      subscribeStream: async (_subject: string, handler: (item: StreamItem) => void) => {
        handlers.add(handler);
        return () => void handlers.delete(handler);
      },
    },
    calls: {
      facts: async () => ({ projectId: "demo", channelId: "public", agentId: "bot" }),
      get: async () => ({ status: "running" }),
      wait: (_key: unknown, _ms: number, signal: AbortSignal) =>
        new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve())),
    },
  } as unknown as Engine;
  const watch = async (toolCallId: string): Promise<PartWatch> => {
    const gone = new AbortController();
    const parts = await watchParts(engine, { projectId: "demo", toolCallId }, gone.signal);
    ends.push(() => {
      gone.abort();
      parts[Symbol.dispose]();
    });
    return parts;
  };
  const send = (toolCallId: string, index: number) => {
    const item = { subject: "s", payload: JSON.stringify({ tool_call_id: toolCallId, index, part: "x" }) };
    for (const handler of handlers) handler(item);
  };
  return { handlers, watch, send };
};

test("[LIM-parts-1] readers of parts share one subscription, which ends with the last of them", async () => {
  const { handlers, watch, send } = createWorld();
  const readers = await Promise.all(Array.from({ length: 60 }, () => watch("mine")));
  expect(handlers.size).toBe(1);
  send("mine", 0);
  const text = 'event: part\ndata: {"tool_call_id":"mine","index":0,"part":"x"}\n\n';
  expect(readers.map((reader) => reader.takeAll())).toEqual(readers.map(() => [text]));
  for (const end of ends.splice(0)) end();
  await expect.poll(() => handlers.size).toBe(0);
});

test("[LIM-parts-1] parts of the agent's other calls take no room of a reader", async () => {
  const { watch, send } = createWorld();
  const reader = await watch("mine");
  send("mine", 0);
  for (let index = 0; index < 3_000; index++) send("other", index);
  expect(reader.takeDropped()).toBe(0);
  expect(reader.takeAll()).toHaveLength(1);
});

test("[LIM-parts-1] readers that are woken together send a few at a time", async () => {
  const { watch } = createWorld();
  const readers = await Promise.all(Array.from({ length: 60 }, () => watch("mine")));
  let went = 0;
  const all = Promise.all(
    readers.map(async (reader) => {
      await reader.turn();
      went += 1;
    }),
  );
  let [most, before] = [0, 0];
  while (went < 60) {
    await new Promise(setImmediate);
    most = Math.max(most, went - before);
    before = went;
  }
  await all;
  expect(most).toBeLessThanOrEqual(8);
});
