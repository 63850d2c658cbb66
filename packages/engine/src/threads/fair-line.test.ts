import { describe, expect, test } from "vitest";
import { createFairLine } from "./fair-line.ts";

const line = (maxRunning = 1, maxWaiting = 3) => createFairLine<string>({ maxRunning, maxWaiting });
const fill = (names: readonly string[], into: ReturnType<typeof line>) =>
  names.map((name) => into.push(name[0] ?? "", name));

describe("the line before the threads", () => {
  test("[STALL-4] tenants take turns, and one of them never runs more than its share", () => {
    const tasks = line();
    expect(fill(["a1", "a2", "a3", "b1", "c1"], tasks)).toEqual([true, true, true, true, true]);
    expect([tasks.take()?.item, tasks.take()?.item, tasks.take()?.item]).toEqual(["a1", "b1", "c1"]);
    expect(tasks.take()).toBeUndefined();
    tasks.done("b");
    expect(tasks.take()).toBeUndefined();
    tasks.done("a");
    expect(tasks.take()?.item).toBe("a2");
  });

  test("[STALL-4] a full line refuses its own tenant and no other", () => {
    const tasks = line();
    expect(fill(["a1", "a2", "a3", "a4", "b1"], tasks)).toEqual([true, true, true, false, true]);
    expect(tasks.waiting).toBe(4);
    expect(tasks.drain()).toEqual(["a1", "a2", "a3", "b1"]);
    expect(tasks.waiting).toBe(0);
  });
});
