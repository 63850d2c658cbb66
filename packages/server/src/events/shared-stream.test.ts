import { expect, test } from "vitest";
import type { StreamItem } from "../http/waiting-items.ts";
import { createSharedStream, readItem } from "./shared-stream.ts";

const openBus = () => {
  const open = new Map<string, (item: StreamItem) => void>();
  let subscriptions = 0;
  return {
    open,
    subscriptions: () => subscriptions,
    subscribeStream: async (subject: string, handler: (item: StreamItem) => void) => {
      subscriptions += 1;
      open.set(subject, handler);
      return () => void open.delete(subject);
    },
  };
};

test("[LIM-door-3] readers of a project share one subscription, which ends with the last of them", async () => {
  const bus = openBus();
  const stream = createSharedStream(bus);
  const got: string[] = [];
  const [first, second] = await Promise.all(
    ["a", "b"].map((name) => stream.listen("demo", ({ payload }) => got.push(`${name}${payload}`))),
  );
  const other = await stream.listen("other", () => undefined);
  expect([...bus.open.keys()]).toEqual(["cg.v1r4.demo.*.str.*.*.>", "cg.v1r4.other.*.str.*.*.>"]);
  bus.open.get("cg.v1r4.demo.*.str.*.*.>")?.({ subject: "s", payload: "1" });
  first?.();
  bus.open.get("cg.v1r4.demo.*.str.*.*.>")?.({ subject: "s", payload: "2" });
  expect(got).toEqual(["a1", "b1", "b2"]);
  second?.();
  other();
  await expect.poll(() => bus.open.size).toBe(0);
  await stream.listen("demo", () => undefined);
  expect(bus.subscriptions()).toBe(3);
});

test("[LIM-door-3] a subscription that cannot be opened is refused to each reader, and tried again for the next", async () => {
  let isAway = true;
  const bus = openBus();
  const subscribeStream: typeof bus.subscribeStream = async (subject, handler) =>
    isAway ? Promise.reject(new TypeError("away")) : bus.subscribeStream(subject, handler);
  const stream = createSharedStream({ subscribeStream });
  const tries = [1, 2].map(() => stream.listen("demo", () => undefined));
  expect((await Promise.allSettled(tries)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  isAway = false;
  await stream.listen("demo", () => undefined);
  expect(bus.open.size).toBe(1);
});

test("[LIM-door-3] an item is read once for all its readers; one that cannot be read is none", () => {
  const item = { subject: "s", payload: '{"a":1}' };
  expect(readItem(item)).toEqual({ subject: "s", payload: { a: 1 } });
  expect(readItem(item)).toBe(readItem(item));
  expect(readItem({ subject: "s", payload: "{" })).toBeUndefined();
});
