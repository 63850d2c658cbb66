// B5, B11: the event log and its durables.

import { expect, test } from "vitest";
import { type CarrierHarness, createCollector, createLatch, openRoom, payloadOf } from "./bus-harness.ts";

export const eventsContract = (harness: () => CarrierHarness): void => {
  test("[BUS-5] [UTP-1.3-14] every durable gets every event; inside one, two processes compete", async () => {
    await using room = await openRoom(harness());
    const audit = createCollector<string>();
    const shared = createCollector<string>();
    const sides = new Set<string>();
    const both = createLatch();
    const handler = (side: string) => async (delivery: { readonly payload: string }) => {
      sides.add(side);
      if (sides.size === 2) both.open();
      await both.opened;
      shared.push(delivery.payload);
    };
    await room.consume(room.one, { category: "evt", durable: `audit_${room.projectId}` }, (d) =>
      audit.push(payloadOf(d)),
    );
    await room.consume(room.one, { category: "evt", durable: `shared_${room.projectId}` }, handler("one"));
    await room.consume(room.other, { category: "evt", durable: `shared_${room.projectId}` }, handler("other"));
    const sent = Array.from({ length: 20 }, (_, n) => String(n).padStart(2, "0"));
    await room.other.publish(sent.map((payload) => room.message("evt", payload)));
    await Promise.all([audit.until(20), shared.until(20)]);
    await room.waitOut(50);
    expect([...audit.items].sort()).toEqual(sent);
    expect([...shared.items].sort()).toEqual(sent);
    expect(sides.size).toBe(2);
  });

  test("[UTP-1.3-13] a durable gets only events of its pattern", async () => {
    await using room = await openRoom(harness());
    const came = createCollector<string>();
    const pattern = `cg.v1r4.${room.projectId}.*.evt.agent.*.task`;
    await room.consume(room.one, { category: "evt", pattern }, (d) => came.push(payloadOf(d)));
    await room.one.publish(
      ["a.step", "a.task", "b.task", "b.state"].map((payload) => {
        const [target = "", suffix = ""] = payload.split(".");
        return { subject: room.subject("evt", suffix, target), headers: {}, payload };
      }),
    );
    await came.until(2);
    await room.waitOut(20);
    expect([...came.items].sort()).toEqual(["a.task", "b.task"]);
  });

  test("[BUS-11] a durable remembers its position while nobody consumes", async () => {
    await using room = await openRoom(harness());
    const came = createCollector<string>();
    const first = await room.consume(room.one, { category: "evt" }, (d) => came.push(payloadOf(d)));
    await room.one.publish([room.message("evt", "before")]);
    await came.until(1);
    await first.stop();
    await room.one.publish([room.message("evt", "meanwhile")]);
    await room.consume(room.other, { category: "evt" }, (d) => came.push(payloadOf(d)));
    await room.one.publish([room.message("evt", "after")]);
    await came.until(3);
    await room.waitOut(20);
    expect(came.items[0]).toBe("before");
    expect([...came.items].sort()).toEqual(["after", "before", "meanwhile"]);
  });

  test("[BUS-11] [UTP-1.3-15] a new durable starts at what is new, or at the oldest event when it asks for all", async () => {
    await using room = await openRoom(harness());
    const fresh = createCollector<string>();
    const all = createCollector<string>();
    await room.one.publish([room.message("evt", "old")]);
    await room.consume(room.other, { category: "evt", durable: `a_${room.projectId}`, deliver: "all" }, (d) =>
      all.push(payloadOf(d)),
    );
    // A published message may still be on its way to the server; a message that came has been there.
    await all.until(1);
    await room.consume(room.one, { category: "evt", durable: `n_${room.projectId}` }, (d) => fresh.push(payloadOf(d)));
    await room.one.publish([room.message("evt", "new")]);
    await Promise.all([fresh.until(1), all.until(2)]);
    await room.waitOut(20);
    expect(fresh.items).toEqual(["new"]);
    expect([...all.items].sort()).toEqual(["new", "old"]);
  });

  test("[BUS-11] a durable belongs to one pattern until it is dropped", async () => {
    await using room = await openRoom(harness());
    const came = createCollector<string>();
    const durable = `x_${room.projectId}`;
    const other = `cg.v1r4.${room.projectId}.*.evt.agent.shelf.>`;
    const first = await room.consume(room.one, { category: "evt", durable }, (d) => came.push(payloadOf(d)));
    await expect(
      room.consume(room.other, { category: "evt", durable, pattern: other }, () => {}),
    ).rejects.toMatchObject({ code: "conflict" });
    await first.stop();
    await room.one.dropDurable(durable);
    await room.consume(room.other, { category: "evt", durable, pattern: other }, (d) => came.push(payloadOf(d)));
    await room.one.publish([{ subject: room.subject("evt", "task", "shelf"), headers: {}, payload: "moved" }]);
    expect(await came.until(1)).toEqual(["moved"]);
  });

  test("[BUS-11] a dropped durable forgets what it had taken", async () => {
    await using room = await openRoom(harness());
    const came = createCollector<string>();
    const taken = createLatch();
    const durable = `f_${room.projectId}`;
    const first = await room.consume(room.one, { category: "evt", durable }, async () => {
      taken.open();
      await new Promise(() => {});
    });
    await room.one.publish([room.message("evt", "taken"), room.message("evt", "waiting")]);
    await taken.opened;
    await first.stop({ drainMs: 0 });
    await room.one.dropDurable(durable);
    await room.consume(room.one, { category: "evt", durable }, (d) => came.push(payloadOf(d)));
    await room.one.publish([room.message("evt", "new")]);
    await came.until(1);
    await room.waitOut(20);
    expect(came.items).toEqual(["new"]);
  });
};
