// B14: ending consumers and buses; and options that make no sense.

import type { ConsumeOptions } from "@toolplane/bus";
import { describe, expect, test } from "vitest";
import { type CarrierHarness, createCollector, createLatch, neverSettles, openRoom, payloadOf } from "./bus-harness.ts";

const NONSENSE: readonly (readonly [string, Partial<ConsumeOptions>])[] = [
  ["a pattern of another category", { pattern: "cg.v1r4.*.*.evt.agent.*.task" }],
  ["a pattern that matches nothing", { pattern: "cg.v1r4" }],
  ["a durable with a dot", { durable: "a.b" }],
  ["a durable that is too long", { durable: "d".repeat(65) }],
  ["no handler at once", { maxInFlight: 0 }],
  ["half a message", { batch: 0.5 }],
  ["no time to settle", { ackWaitMs: 0 }],
  ["no delivery", { maxDeliver: 0 }],
  ["a backoff into the past", { backoff: [-1] }],
];

export const shutdownContract = (harness: () => CarrierHarness): void => {
  describe.each(["cmd", "evt"] as const)("ending the consumption of %s", (category) => {
    test("[BUS-14] stop waits for running handlers, whose settlement counts, and starts no other", async () => {
      await using room = await openRoom(harness());
      const came = createCollector<string>();
      const finish = createLatch();
      const started = createLatch();
      const first = await room.consume(room.one, { category, deliver: "all" }, async (delivery) => {
        came.push(payloadOf(delivery));
        started.open();
        await finish.opened;
      });
      await room.one.publish([room.message(category, "a"), room.message(category, "b")]);
      await started.opened;
      let stopped = false;
      const stopping = first.stop().then(() => {
        stopped = true;
      });
      await room.waitOut(20);
      expect(stopped).toBe(false);
      finish.open();
      await stopping;
      expect(came.items).toHaveLength(1);
      await room.consume(room.other, { category }, (d) => came.push(payloadOf(d)));
      await came.until(2);
      await room.waitOut(20);
      expect([...came.items].sort()).toEqual(["a", "b"]);
    });

    test("[BUS-14] aborting the signal is the same as stop", async () => {
      await using room = await openRoom(harness());
      const came = createCollector<string>();
      const stop = new AbortController();
      await room.consume(room.one, { category, signal: stop.signal }, (d) => came.push(payloadOf(d)));
      await room.one.publish([room.message(category, "a")]);
      await came.until(1);
      stop.abort();
      const later = createCollector<string>();
      await room.one.publish([room.message(category, "b")]);
      await room.consume(room.other, { category }, (d) => later.push(payloadOf(d)));
      await later.until(1);
      expect([came.items, later.items]).toEqual([["a"], ["b"]]);
      const never = await room.consume(room.one, { category, signal: stop.signal }, (d) => came.push(payloadOf(d)));
      await never.stop();
    });

    test("[BUS-14] what is not finished when the drain ends is offered to others at once", async () => {
      await using room = await openRoom(harness());
      const held = createLatch();
      const attempts = createCollector<number>();
      await room.consume(room.one, { category }, async (delivery) => {
        held.open();
        await neverSettles(delivery);
      });
      await room.one.publish([room.message(category, "left behind")]);
      await held.opened;
      await room.consume(room.other, { category }, ({ attempt }) => attempts.push(attempt));
      await room.one.close({ drainMs: 0 });
      expect(await attempts.until(1)).toEqual([2]);
    });
  });

  test("[BUS-14] a closed bus refuses work with a code, and closing again is nothing", async () => {
    await using room = await openRoom(harness());
    await room.one.close();
    await room.one.close();
    await expect(room.one.publish([room.message("cmd", "late")])).rejects.toMatchObject({ code: "storage_error" });
    await expect(room.consume(room.one, { category: "cmd" }, () => {})).rejects.toMatchObject({
      code: "storage_error",
    });
    expect(room.one.stats()).toMatchObject({ consumers: 0, inFlight: 0 });
  });

  test("[BUS-14] a handler may still publish while the bus drains", async () => {
    await using room = await openRoom(harness());
    const came = createCollector<string>();
    const started = createLatch();
    const finish = createLatch();
    await room.consume(room.other, { category: "evt" }, (d) => came.push(payloadOf(d)));
    await room.consume(room.one, { category: "cmd" }, async () => {
      started.open();
      await finish.opened;
      await room.one.publish([room.message("evt", "last words")]);
    });
    await room.one.publish([room.message("cmd", "go")]);
    await started.opened;
    const closing = room.one.close();
    finish.open();
    await closing;
    expect(await came.until(1)).toEqual(["last words"]);
  });

  test.each(NONSENSE)("consuming with %s is refused", async (_, fault) => {
    await using room = await openRoom(harness());
    await expect(room.consume(room.one, { category: "cmd", ...fault }, () => {})).rejects.toThrow();
    expect(room.one.stats().consumers).toBe(0);
  });
};
