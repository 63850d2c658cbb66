// B15: lossy streams.

import type { StreamItem } from "@toolplane/bus";
import { expect, test } from "vitest";
import { type BusHarness, createCollector, eventually, openBuses } from "./bus-harness.ts";

export const streamsContract = (harness: () => BusHarness): void => {
  test("[BUS-15] [UTP-1.3-18] [UTP-2.2-6] every matching subscriber gets the item, which has no headers; one that throws hurts no other", async () => {
    await using room = await openBuses(harness());
    const subject = `cg.v1r4.${room.projectId}.public.str.agent.a1.chunk`;
    const [all, mine, none] = [createCollector<StreamItem>(), createCollector<string>(), createCollector<string>()];
    await room.one.subscribeStream(`cg.v1r4.${room.projectId}.*.str.>`, () => {
      throw new RangeError("a bad subscriber");
    });
    await room.one.subscribeStream(`cg.v1r4.${room.projectId}.*.str.>`, (item) => all.push(item));
    await room.one.subscribeStream(`cg.v1r4.${room.projectId}.*.str.agent.a1.*`, ({ payload }) => mine.push(payload));
    await room.one.subscribeStream(`cg.v1r4.${room.projectId}.*.str.agent.a2.*`, ({ payload }) => none.push(payload));
    room.one.publishStream({ subject, payload: "tokens" });
    await Promise.all([all.until(1), mine.until(1)]);
    expect(all.items).toEqual([{ subject, payload: "tokens" }]);
    expect(none.items).toEqual([]);
  });

  test("[BUS-15] another process gets items at most once, in the order they were published", async () => {
    await using room = await openBuses(harness());
    const subject = `cg.v1r4.${room.projectId}.public.str.agent.a1.chunk`;
    const came = createCollector<number>();
    await room.other.subscribeStream(`cg.v1r4.${room.projectId}.*.str.>`, ({ payload }) => came.push(Number(payload)));
    let sent = 0;
    // They may drop, so send until enough have come.
    await eventually(() => {
      for (let n = 0; n < 20; n++) room.one.publishStream({ subject, payload: String(sent++) });
      return came.items.length >= 50;
    });
    const numbers = [...came.items];
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });

  test("[BUS-15] items from two processes at once all reach a healthy third", async () => {
    await using room = await openBuses(harness());
    const third = await harness().connect();
    const came = createCollector<string>();
    await third.subscribeStream(`cg.v1r4.${room.projectId}.*.str.>`, ({ payload }) => came.push(payload));
    const subject = `cg.v1r4.${room.projectId}.public.str.agent.a1.part`;
    let rounds = 0;
    await eventually(() => {
      room.one.publishStream({ subject, payload: `one ${rounds}` });
      room.other.publishStream({ subject, payload: `other ${rounds}` });
      rounds++;
      return ["one", "other"].every((name) => came.items.some((payload) => payload.startsWith(name)));
    });
    await third.close();
    expect(new Set(came.items).size).toBe(came.items.length);
  });

  test("[BUS-15] a subscriber that stopped gets nothing more; an item without subscribers is not a failure", async () => {
    await using room = await openBuses(harness());
    const subject = `cg.v1r4.${room.projectId}.public.str.agent.a1.chunk`;
    const came = createCollector<string>();
    const pattern = `cg.v1r4.${room.projectId}.*.str.>`;
    const stop = await room.one.subscribeStream(pattern, ({ payload }) => came.push(payload));
    room.one.publishStream({ subject, payload: "heard" });
    await came.until(1);
    stop();
    room.one.publishStream({ subject, payload: "unheard" });
    const witness = createCollector<string>();
    await room.one.subscribeStream(pattern, ({ payload }) => witness.push(payload));
    room.one.publishStream({ subject, payload: "later" });
    await witness.until(1);
    expect(came.items).toEqual(["heard"]);
    expect(room.one.stats().streamItems).toBe(3);
  });

  test.each([
    ["a command", "cg.v1r4.p.public.cmd.tool.desk.work", "x"],
    ["a wildcard", "cg.v1r4.p.public.str.agent.*.chunk", "x"],
    ["a lone surrogate", "cg.v1r4.p.public.str.agent.a.chunk", "\uDC00"],
  ])("[BUS-15] %s is not a stream item", async (_, subject, payload) => {
    await using room = await openBuses(harness());
    expect(() => room.one.publishStream({ subject, payload })).toThrow(
      expect.objectContaining({ code: "protocol_violation" }),
    );
  });
};
