import { expect, test } from "vitest";
import { createEventStores } from "./event-store.ts";

const message = (text: string) => ({ jsonrpc: "2.0", method: "notifications/message", params: { text } }) as const;

const replayed = async (store: ReturnType<ReturnType<typeof createEventStores>["open"]>, after: string) => {
  const ids: string[] = [];
  await store.replayEventsAfter(after, {
    send: async (id) => {
      ids.push(id);
    },
  });
  return ids;
};

test("[SEC-memory-mcp] a session keeps its last messages, and no more bytes than it may", async () => {
  const stores = createEventStores({ maxBytes: 10_000, maxInAll: 1_000_000 });
  const store = stores.open();
  for (let n = 0; n < 100; n++) await store.storeEvent("one", message("x".repeat(500)));
  expect(stores.held()).toBeLessThanOrEqual(10_000);
  expect(await replayed(store, "99")).toEqual(["100"]);
  expect(await replayed(store, "1")).toEqual([]);
  await store.storeEvent("one", message("x".repeat(50_000)));
  expect(await replayed(store, "99")).toEqual(["100"]);
  store[Symbol.dispose]();
  await store.storeEvent("one", message("late"));
  expect(stores.held()).toBe(0);
});

test("[SEC-memory-mcp] all sessions together hold no more than they may", async () => {
  const stores = createEventStores({ maxBytes: 10_000, maxInAll: 25_000 });
  const all = Array.from({ length: 20 }, () => stores.open());
  for (const store of all) for (let n = 0; n < 20; n++) await store.storeEvent("one", message("x".repeat(500)));
  expect(stores.held()).toBeGreaterThan(0);
  expect(stores.held()).toBeLessThanOrEqual(25_000);
  for (const store of all) store[Symbol.dispose]();
  expect(stores.held()).toBe(0);
});
