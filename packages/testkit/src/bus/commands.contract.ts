// B2, B4, B13: commands.

import type { Delivery } from "@toolplane/bus";
import { expect, test } from "vitest";
import { type CarrierHarness, createCollector, createLatch, openRoom, payloadOf } from "./bus-harness.ts";

const PATTERNS: readonly (readonly [string, readonly string[]])[] = [
  ["desk.work", ["desk.work"]],
  ["desk.*", ["desk.work"]],
  ["desk.>", ["desk.work", "desk.work.more"]],
  ["*.work", ["desk.work", "shelf.work"]],
  [">", ["desk.work", "desk.work.more", "shelf.work"]],
];

export const commandsContract = (harness: () => CarrierHarness): void => {
  test("[BUS-4] [UTP-1.3-11] consumers of two processes compete: each command is handled once, by both sides", async () => {
    await using room = await openRoom(harness());
    const came = createCollector<string>();
    const sides = new Set<string>();
    const both = createLatch();
    const handler = (side: string) => async (delivery: Delivery) => {
      sides.add(side);
      if (sides.size === 2) both.open();
      // Neither handler goes on before both have a message, so neither can take them all.
      await both.opened;
      came.push(payloadOf(delivery));
    };
    await room.consume(room.one, { category: "cmd", maxInFlight: 2 }, handler("one"));
    await room.consume(room.other, { category: "cmd", maxInFlight: 2 }, handler("other"));
    const sent = Array.from({ length: 40 }, (_, n) => String(n).padStart(2, "0"));
    await room.one.publish(sent.map((payload) => room.message("cmd", payload)));
    await came.until(40);
    await room.waitOut(50);
    expect([...came.items].sort()).toEqual(sent);
    expect(sides).toEqual(new Set(["one", "other"]));
  });

  test("[BUS-4] an acknowledged command is gone", async () => {
    await using room = await openRoom(harness());
    const came = createCollector<string>();
    const first = await room.consume(room.one, { category: "cmd", ackWaitMs: 300 }, (d) => came.push(payloadOf(d)));
    await room.one.publish([room.message("cmd", "done")]);
    await came.until(1);
    await first.stop();
    await room.consume(room.other, { category: "cmd" }, (d) => came.push(payloadOf(d)));
    // A message that is still held after the ack wait would be delivered again.
    await room.waitOut(600);
    await room.one.publish([room.message("cmd", "next")]);
    expect(await came.until(2)).toEqual(["done", "next"]);
  });

  test("[UTP-1.3-12] commands are held while nobody consumes", async () => {
    await using room = await openRoom(harness());
    const came = createCollector<string>();
    await room.one.publish([room.message("cmd", "early")]);
    await room.consume(room.other, { category: "cmd" }, (d) => came.push(payloadOf(d)));
    expect(await came.until(1)).toEqual(["early"]);
  });

  test.each(PATTERNS)("[UTP-1.3-13] a consumer of %s gets what matches and nothing else", async (rest, matching) => {
    await using room = await openRoom(harness());
    const came = createCollector<string>();
    const all = ["desk.work", "desk.work.more", "shelf.work"];
    const scope = `cg.v1r4.${room.projectId}.*.cmd.agent`;
    await room.consume(room.one, { category: "cmd", batch: 5, pattern: `${scope}.${rest}` }, (d) =>
      came.push(payloadOf(d)),
    );
    await room.one.publish(
      all.map((payload) => {
        const [target = "", ...suffix] = payload.split(".");
        return { subject: room.subject("cmd", suffix.join("."), target), headers: {}, payload };
      }),
    );
    await came.until(matching.length);
    await room.one.publish([room.message("cmd", "last")]);
    await came.until(matching.length + 1);
    expect([...came.items].sort()).toEqual([...matching, "last"].sort());
  });

  test("[BUS-13] no more handlers run at once than maxInFlight, and as many as that", async () => {
    await using room = await openRoom(harness());
    const came = createCollector<string>();
    const full = createLatch();
    let running = 0;
    let most = 0;
    await room.one.publish(Array.from({ length: 30 }, (_, n) => room.message("cmd", String(n))));
    await room.consume(room.one, { category: "cmd", batch: 10, maxInFlight: 3 }, async (delivery) => {
      running++;
      most = Math.max(most, running);
      if (running === 3) full.open();
      await full.opened;
      came.push(payloadOf(delivery));
      running--;
    });
    await came.until(30);
    expect(most).toBe(3);
  });

  test("a thousand commands from two publishers are handled once each", async () => {
    await using room = await openRoom(harness());
    const came = createCollector<string>();
    const options = { category: "cmd", batch: 50, maxInFlight: 200 } as const;
    await room.consume(room.one, options, (d) => came.push(payloadOf(d)));
    await room.consume(room.other, options, (d) => came.push(payloadOf(d)));
    const sent = Array.from({ length: 1000 }, (_, n) => String(n));
    await Promise.all(
      sent.map((payload, n) => (n % 2 === 0 ? room.one : room.other).publish([room.message("cmd", payload)])),
    );
    await came.until(1000);
    expect(new Set(came.items).size).toBe(1000);
  });
};
