// B6-B10: how a delivery can end, the same for commands and events.

import { performance } from "node:perf_hooks";
import type { Delivery } from "@toolplane/bus";
import { describe, expect, test } from "vitest";
import {
  type CarrierHarness,
  createCollector,
  createLatch,
  eventually,
  neverSettles,
  openRoom,
} from "./bus-harness.ts";

/** Timers of either side may be early by a few milliseconds. */
const EARLY_MS = 10;

export const settlementContract = (harness: () => CarrierHarness): void => {
  describe.each(["cmd", "evt"] as const)("settling %s", (category) => {
    test("[BUS-6] a message that is not settled in time is delivered again, to another process", async () => {
      await using room = await openRoom(harness());
      const held = createLatch();
      const again = createCollector<Delivery>();
      const options = { category, ackWaitMs: 300 } as const;
      await room.consume(room.one, options, async (delivery) => {
        expect(delivery.attempt).toBe(1);
        held.open();
        await neverSettles(delivery);
      });
      await room.one.publish([room.message(category, "slow")]);
      await held.opened;
      await room.consume(room.other, options, (delivery) => again.push(delivery));
      await again.until(1);
      expect(again.items[0]).toMatchObject({ payload: "slow", attempt: 2 });
    });

    test("[BUS-6] [UTP-W40] a message in progress is not delivered again", async () => {
      await using room = await openRoom(harness());
      const attempts = createCollector<number>();
      const pulses = createCollector<() => Promise<void>>();
      const done = createLatch();
      const options = { category, ackWaitMs: 6000 } as const;
      const handler = async (delivery: Delivery) => {
        attempts.push(delivery.attempt);
        pulses.push(() => delivery.inProgress());
        await done.opened;
      };
      await room.consume(room.one, options, handler);
      await room.consume(room.other, options, handler);
      await room.one.publish([room.message(category, "long")]);
      await pulses.until(1);
      // Longer than the ack wait, in steps so much shorter that a busy machine does not miss one.
      for (let pulse = 0; pulse < 8; pulse++) {
        await room.waitOut(900);
        await pulses.items[0]?.();
      }
      done.open();
      await room.waitOut(20);
      expect(attempts.items).toEqual([1]);
    });

    test("[BUS-7] a handler that throws is asked again after each backoff, the last one repeating", async () => {
      await using room = await openRoom(harness());
      const times = createCollector<number>();
      await room.consume(room.one, { category, maxDeliver: 4, backoff: [100, 250] }, async (delivery) => {
        times.push(performance.now());
        await Promise.resolve();
        if (delivery.attempt < 4) throw new RangeError("not yet");
      });
      await room.one.publish([room.message(category, "stubborn")]);
      await times.until(4);
      const gaps = times.items.slice(1).map((time, n) => time - (times.items[n] ?? 0));
      expect(gaps.map((gap, n) => gap >= (n === 0 ? 100 : 250) - EARLY_MS)).toEqual([true, true, true]);
    });

    test("[BUS-7] [UTP-1.3-16] without a backoff it is asked again at once, and a handler that returns acknowledges", async () => {
      await using room = await openRoom(harness());
      const attempts = createCollector<number>();
      await room.consume(room.one, { category, ackWaitMs: 400 }, ({ attempt }) => {
        attempts.push(attempt);
        if (attempt === 1) throw new RangeError("once");
      });
      await room.one.publish([room.message(category, "second try")]);
      await attempts.until(2);
      await room.waitOut(800);
      expect(attempts.items).toEqual([1, 2]);
      expect(room.one.stats()).toMatchObject({ delivered: 2, refused: 1, acknowledged: 1, inFlight: 0 });
    });

    test("[BUS-7] the first settlement counts: nothing after an ack brings the message back", async () => {
      await using room = await openRoom(harness());
      const attempts = createCollector<number>();
      await room.consume(room.one, { category, ackWaitMs: 400 }, async (delivery) => {
        attempts.push(delivery.attempt);
        await delivery.ack();
        await delivery.nak();
        await delivery.term("too late");
        await delivery.inProgress();
        throw new RangeError("after the ack");
      });
      await room.one.publish([room.message(category, "settled")]);
      await attempts.until(1);
      await room.waitOut(800);
      expect(attempts.items).toEqual([1]);
      expect(await room.harness.deadLetters(room.projectId)).toEqual([]);
    });

    test("[BUS-8] a message is not delivered before the delay of its nak has passed", async () => {
      await using room = await openRoom(harness());
      const times = createCollector<number>();
      await room.consume(room.one, { category }, async (delivery) => {
        times.push(performance.now());
        if (delivery.attempt === 1) await delivery.nak(400);
      });
      await room.one.publish([room.message(category, "later")]);
      await times.until(2);
      expect((times.items[1] ?? 0) - (times.items[0] ?? 0)).toBeGreaterThanOrEqual(400 - EARLY_MS);
    });

    test("[BUS-8] a nak without a delay offers the message to other processes at once", async () => {
      await using room = await openRoom(harness());
      const attempts = createCollector<number>();
      const first = await room.consume(room.one, { category }, async (delivery) => {
        await room.consume(room.other, { category }, ({ attempt }) => attempts.push(attempt));
        void first.stop();
        await delivery.nak();
      });
      await room.one.publish([room.message(category, "yours")]);
      expect(await attempts.until(1)).toEqual([2]);
    });

    test("[BUS-9] [UTP-W40] [UTP-1.3-17] a message that failed maxDeliver times becomes a dead letter", async () => {
      await using room = await openRoom(harness());
      const attempts = createCollector<number>();
      await room.consume(room.one, { category, maxDeliver: 3 }, ({ attempt }) => {
        attempts.push(attempt);
        throw new RangeError("never");
      });
      await room.one.publish([room.message(category, "poison")]);
      const letters = await eventually(() => lettersOf(room));
      expect(letters).toMatchObject([{ subject: room.subject(category), payload: "poison", attempts: 3 }]);
      await room.waitOut(20);
      expect(attempts.items).toEqual([1, 2, 3]);
      expect(room.one.stats().deadLettered).toBe(1);
    });

    test("[BUS-9] after its last failure it does not wait out a backoff first", async () => {
      await using room = await openRoom(harness());
      await room.consume(room.one, { category, maxDeliver: 1, backoff: [3_600_000] }, () => {
        throw new RangeError("never");
      });
      await room.one.publish([room.message(category, "hopeless")]);
      expect(await eventually(() => lettersOf(room))).toMatchObject([{ payload: "hopeless", attempts: 1 }]);
    });

    test("[BUS-9] so does one that was never settled: its consumers died with it", async () => {
      await using room = await openRoom(harness());
      const attempts = createCollector<number>();
      await room.consume(room.one, { category, maxDeliver: 2, ackWaitMs: 200, maxInFlight: 5 }, async (delivery) => {
        attempts.push(delivery.attempt);
        await neverSettles(delivery);
      });
      await room.one.publish([room.message(category, "deadly")]);
      const letters = await eventually(() => lettersOf(room));
      expect(letters).toMatchObject([{ payload: "deadly", attempts: 2 }]);
      expect(attempts.items).toEqual([1, 2]);
    });

    test("[BUS-9] a message that was given up is a dead letter with the reason, and never comes again", async () => {
      await using room = await openRoom(harness());
      const attempts = createCollector<number>();
      await room.consume(room.one, { category, ackWaitMs: 300 }, async (delivery) => {
        attempts.push(delivery.attempt);
        await delivery.term("not for us\0");
      });
      await room.one.publish([room.message(category, "foreign", { headers: { "CG-Tool-Call-Id": "call_1" } })]);
      const letters = await eventually(() => lettersOf(room));
      expect(letters).toMatchObject([{ payload: "foreign", reason: "not for us\uFFFD", attempts: 1 }]);
      await room.waitOut(600);
      expect(attempts.items).toEqual([1]);
    });

    test("[BUS-10] a delivery that was superseded settles nothing", async () => {
      await using room = await openRoom(harness());
      const stale = createCollector<Delivery>();
      const attempts = createCollector<number>();
      // Long compared with the delays of a busy machine: an adapter may know the age of a delivery only by its own clock.
      const options = { category, ackWaitMs: 2500, maxDeliver: 5 } as const;
      await room.consume(room.one, options, async (delivery) => {
        stale.push(delivery);
        await neverSettles(delivery);
      });
      await room.one.publish([room.message(category, "contested")]);
      await stale.until(1);
      await room.consume(room.other, options, async (delivery) => {
        attempts.push(delivery.attempt);
        if (delivery.attempt > 2) return;
        const old = stale.items[0];
        await old?.inProgress();
        await old?.ack();
        await delivery.nak(20);
      });
      expect(await attempts.until(2)).toEqual([2, 3]);
    });
  });

  test("[BUS-9] a dead letter of one durable does not concern another", async () => {
    await using room = await openRoom(harness());
    const other = createCollector<string>();
    await room.consume(room.one, { category: "evt", durable: `x_${room.projectId}` }, async (delivery) => {
      await delivery.term("not mine");
    });
    await room.one.publish([room.message("evt", "fact")]);
    await eventually(() => lettersOf(room));
    const options = { category: "evt", durable: `y_${room.projectId}`, deliver: "all" } as const;
    await room.consume(room.other, options, ({ payload }) => other.push(payload));
    expect(await other.until(1)).toEqual(["fact"]);
  });
};

/** Undefined until there is one: for `eventually`. */
const lettersOf = async (room: { readonly harness: CarrierHarness; readonly projectId: string }) => {
  const letters = await room.harness.deadLetters(room.projectId);
  return letters.length > 0 ? letters : undefined;
};
