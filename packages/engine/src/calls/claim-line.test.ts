import { describe, expect, test } from "vitest";
import { createRecordedDoorbell } from "../../test/registry-world.ts";
import { systemClock } from "../ports/clock.ts";
import { createClaimLine } from "./claim-line.ts";
import { createHandover } from "./handover.ts";
import type { LeasedCall } from "./take-calls.ts";

const REQUEST = { projectId: "p", target: "t", holder: "h", max: 8 };
const LONG_MS = 60_000;
// The line hands on what a claim found without looking at it.
const WORK = [{ attempt: 1 }] as unknown as readonly LeasedCall[];

/** A line whose looks are counted; `queue` is what the next ones find. */
const openLine = () => {
  const queue: (readonly LeasedCall[])[] = [];
  const doorbell = createRecordedDoorbell();
  let looks = 0;
  let looked = Promise.withResolvers<void>();
  const line = createClaimLine({
    claim: () => {
      looks++;
      looked.resolve();
      looked = Promise.withResolvers();
      return Promise.resolve(queue.shift() ?? []);
    },
    doorbell,
    clock: systemClock,
    handover: createHandover(systemClock.now),
    giveBack: () => {},
  });
  return { line, queue, doorbell, looks: () => looks, nextLook: () => looked.promise };
};

describe("the line of those who wait for work", () => {
  test("an empty queue is looked at once, then once per ring", async () => {
    const { line, queue, doorbell, looks, nextLook } = openLine();
    const first = nextLook();
    const claimed = line.wait(REQUEST, LONG_MS);
    await first;
    expect(looks()).toBe(1);
    queue.push(WORK);
    doorbell.ring("queued");
    expect(await claimed).toBe(WORK);
    expect(looks()).toBe(2);
  });

  test("a ring during the look is heard", async () => {
    const { line, queue, doorbell, looks, nextLook } = openLine();
    const first = nextLook();
    queue.push([], WORK);
    const claimed = line.wait(REQUEST, LONG_MS);
    doorbell.ring("queued");
    await first;
    expect(await claimed).toBe(WORK);
    expect(looks()).toBe(2);
  });

  test("who does not wait looks once; who has given up before does not look", async () => {
    const { line, queue, looks } = openLine();
    queue.push(WORK);
    expect(await line.wait(REQUEST, LONG_MS, AbortSignal.abort())).toEqual([]);
    expect(looks()).toBe(0);
    expect(await line.wait(REQUEST, 0)).toBe(WORK);
    expect(await line.wait(REQUEST, 0)).toEqual([]);
    expect(looks()).toBe(2);
  });

  test("two who wait: one look finds work for the first, the next in line looks by itself", async () => {
    const { line, queue, doorbell, looks, nextLook } = openLine();
    const first = nextLook();
    const one = line.wait(REQUEST, LONG_MS);
    const two = line.wait(REQUEST, LONG_MS);
    await first;
    queue.push(WORK, WORK);
    doorbell.ring("queued");
    expect(await Promise.all([one, two])).toEqual([WORK, WORK]);
    expect(looks()).toBe(3);
    expect(line.waiting()).toBe(0);
  });
});
