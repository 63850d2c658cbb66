// What is given up, and what foreign clients write into the streams: a handler sees only messages of the protocol, a dead
// letter is kept before its message goes, and one that cannot be kept is not lost.

import type { LostMessage } from "@toolplane/bus";
import { createCollector, eventually } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type NatsHarness, openNatsHarness } from "./nats-harness.ts";
import { openRawNats, type RawMessage, type RawNats } from "./raw-nats.ts";

let harness: NatsHarness;
let raw: RawNats;
beforeAll(async () => {
  harness = await openNatsHarness();
  raw = await openRawNats(harness.server.port);
});
afterAll(async () => {
  raw.close();
  await harness.close();
});

const subjectOf = (target: string): string => `cg.v1r4.p1.public.cmd.tool.${target}.run`;
const durableOf = (target: string) => ({ durable: `d_${target}`, pattern: `cg.v1r4.*.*.cmd.tool.${target}.>` });

describe("a dead letter that cannot be kept", () => {
  test.each([
    ["after its last failure", 1, () => Promise.reject(new RangeError("never"))],
    ["when it was given up", 9, undefined],
  ] as const)("[ARCH-6-64] is tried again until it is: %s", async (how, maxDeliver, fails) => {
    const target = `unkept_${maxDeliver}`;
    const tries = createCollector<LostMessage>();
    const { bus } = await harness.start({
      bury: (lost) => {
        tries.push(lost);
        return tries.items.length < 3 ? Promise.reject(new RangeError("no database")) : Promise.resolve();
      },
    });
    const handled = createCollector<number>();
    await bus.consume({ ...durableOf(target), category: "cmd", maxDeliver }, async (delivery) => {
      handled.push(delivery.attempt);
      await (fails?.() ?? delivery.term("not wanted"));
    });
    await bus.publish([{ subject: subjectOf(target), headers: { "X-A": "1" }, payload: how, messageId: target }]);
    await tries.until(3);
    await eventually(() => bus.stats().inFlight === 0);
    const [last] = tries.items.slice(-1);
    expect(last).toMatchObject({
      subject: subjectOf(target),
      payload: how,
      messageId: target,
      headers: { "X-A": "1" },
    });
    expect(last?.code).toBe(fails === undefined ? "terminated" : "max_deliver");
    // A handler that gave up is asked again, one that failed its last time is not.
    expect(handled.items).toEqual(fails === undefined ? [1, 2, 3] : [1]);
    expect(bus.stats().deadLettered).toBe(1);
    const { bus: other } = await harness.start();
    expect(await other.commands(durableOf(target).durable).fetch({ max: 1, waitMs: 1 })).toEqual([]);
  });
});

test("[BUS-9] a letter that takes longer to keep than its message is held comes again under the same id", async () => {
  const tries = createCollector<LostMessage>();
  const kept = Promise.withResolvers<void>();
  const { bus } = await harness.start({
    bury: (lost) => {
      tries.push(lost);
      return tries.items.length === 1 ? kept.promise : Promise.resolve();
    },
  });
  await bus.consume({ ...durableOf("slow"), category: "cmd", ackWaitMs: 200, maxInFlight: 2 }, (delivery) =>
    delivery.term("not wanted"),
  );
  await bus.publish([{ subject: subjectOf("slow"), headers: {}, payload: "deadly" }]);
  const [first, second] = await tries.until(2);
  kept.resolve();
  expect(first?.lostId).toMatch(/./);
  expect(second?.lostId).toBe(first?.lostId);
});

const LINE = "NATS/1.0\r\n";
const big = "x".repeat(70_000);
const GARBAGE: readonly (readonly [string, Partial<RawMessage>, string, string])[] = [
  ["bytes that are not text", { payload: Uint8Array.of(0xff, 0xfe, 65) }, "the payload is not text", "\uFFFD\uFFFDA"],
  ["a NUL", { payload: "a\0b" }, "the payload is not text", "a\uFFFDb"],
  ["a surrogate in UTF-8", { payload: Uint8Array.of(0xed, 0xa0, 0x80) }, "the payload is not text", "\uFFFD"],
  ["a lot of bytes", { payload: `${big}\0` }, "the payload is not text", "x"],
  ["a header twice", { headers: `${LINE}X-A: 1\r\nX-A: 2\r\n\r\n` }, "more than once", ""],
  ["a header with bytes", { headers: `${LINE}X-A: \xff\xfe\r\n\r\n` }, "X-A", ""],
  ["a header name with a blank", { headers: `${LINE}X A: 1\r\n\r\n` }, "header", ""],
  ["no header at all in its block", { headers: `${LINE}\x01\x02: 3\r\n\r\n` }, "header", ""],
];

describe("foreign messages", () => {
  test.each(GARBAGE)(
    "[ARCH-6-63] %s: a dead letter with the reason; no handler sees it, and others go on",
    async (name, message, reason, shown) => {
      const target = `foreign_${GARBAGE.findIndex(([other]) => other === name)}`;
      const { bus } = await harness.start();
      const came = createCollector<string>();
      await bus.consume({ ...durableOf(target), category: "cmd" }, ({ payload }) => came.push(payload));
      await raw.publish({ subject: subjectOf(target), ...message });
      await bus.publish([{ subject: subjectOf(target), headers: {}, payload: "next" }]);
      expect(await came.until(1)).toEqual(["next"]);
      const letters = await eventually(() => {
        const those = harness.lost.filter(({ subject }) => subject === subjectOf(target));
        return those.length > 0 ? those : undefined;
      });
      const letter = letters?.[0];
      expect(letter).toMatchObject({ code: "terminated", headers: {}, attempts: 1 });
      expect(letter?.reason).toContain("not a message of the protocol");
      expect(letter?.reason).toContain(reason);
      expect(letter?.payload.startsWith(shown)).toBe(true);
      expect(letter?.payload.length).toBeLessThanOrEqual(65_536);
    },
  );

  test("without headers, with a foreign id and with headers of the transport: a message like any other", async () => {
    const { bus } = await harness.start();
    const came = createCollector<unknown>();
    await bus.consume({ ...durableOf("plain"), category: "cmd" }, ({ headers, payload, messageId }) => {
      came.push({ headers, payload, messageId });
    });
    const subject = subjectOf("plain");
    await raw.publish({ subject, payload: "bare" });
    await raw.publish({
      subject,
      payload: "",
      headers: `${LINE}Nats-Msg-Id: theirs\r\nNats-Note: x\r\nX-A:  1 \r\n\r\n`,
    });
    expect(await came.until(2)).toEqual([
      { headers: {}, payload: "bare", messageId: undefined },
      { headers: { "X-A": "1" }, payload: "", messageId: "theirs" },
    ]);
  });

  test("a subject that is not of the protocol belongs to no project: dropped, with a line in the log", async () => {
    const warnings = createCollector<string>();
    const log = { info: () => {}, error: () => {}, warn: (text: string) => warnings.push(text) };
    const { bus } = await harness.start({ log });
    const came = createCollector<string>();
    await bus.consume({ ...durableOf("odd"), category: "cmd" }, ({ payload }) => came.push(payload));
    const before = harness.lost.length;
    for (const project of ["pröject", "a:b", "a/b"])
      await raw.publish({ subject: `cg.v1r4.${project}.public.cmd.tool.odd.run`, payload: "odd" });
    await bus.publish([{ subject: subjectOf("odd"), headers: {}, payload: "fine" }]);
    expect(await came.until(1)).toEqual(["fine"]);
    expect(warnings.items.filter((text) => text.includes("subject is not of the protocol"))).toHaveLength(3);
    expect(harness.lost).toHaveLength(before);
  });

  test("[ARCH-6-63] who fetches by hand sees none of it either", async () => {
    const { bus, link } = await harness.start();
    await bus.ensureDurables([durableOf("hand")]);
    await raw.publish({ subject: subjectOf("hand"), payload: Uint8Array.of(0xff) });
    await bus.publish([{ subject: subjectOf("hand"), headers: {}, payload: "fine", messageId: "by hand" }]);
    const source = link.commands("d_hand");
    const got = [...(await source.fetch({ max: 5, waitMs: 2_000 })), ...(await source.fetch({ max: 5, waitMs: 1 }))];
    expect(got.map(({ payload, messageId, attempt }) => [payload, messageId, attempt])).toEqual([
      ["fine", "by hand", 1],
    ]);
    await got[0]?.ack();
    expect(await bus.commands("d_hand").fetch({ max: 5, waitMs: 1 })).toEqual([]);
  });
});
