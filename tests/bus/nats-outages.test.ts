// The server as it is in life: restarted, killed, emptied, hidden. The adapter goes on by itself; what is asked of it
// meanwhile fails soon, with a code that says "later".

import type { CarrierBus } from "@toolplane/bus";
import { openBareNats } from "@toolplane/bus/nats";
import { silentLog } from "@toolplane/engine";
import { createCollector, eventually } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type NatsHarness, openNatsHarness } from "./nats-harness.ts";

let harness: NatsHarness;
beforeAll(async () => {
  harness = await openNatsHarness();
});
afterAll(() => harness.close());

const subjectOf = (target: string, category: "cmd" | "evt" = "cmd"): string =>
  `cg.v1r4.p1.public.${category}.${category === "cmd" ? "tool" : "agent"}.${target}.run`;
const patternOf = (target: string, category: "cmd" | "evt" = "cmd"): string => `cg.v1r4.*.*.${category}.*.${target}.>`;

/** As the relay does: the same message, under the same id, until the bus has it. */
const publishSurely = async (bus: CarrierBus, target: string, payload: string, category: "cmd" | "evt" = "cmd") => {
  const message = { subject: subjectOf(target, category), headers: {}, payload, messageId: `${target}-${payload}` };
  await eventually(() =>
    bus.publish([message]).then(
      () => true,
      () => false,
    ),
  );
};

describe.each([
  ["restarted", (server: NatsHarness["server"]) => server.restart()],
  [
    "killed and started again",
    async (server: NatsHarness["server"]) => {
      await server.kill();
      await server.restart();
    },
  ],
] as const)("a server that is %s", (how, disturb) => {
  test("[ARCH-6-7] [BUS-16] loses nothing, and consumers go on", async () => {
    const target = how.split(" ")[0] ?? "";
    const [sender, receiver] = await Promise.all([harness.start(), harness.start()]);
    const came = createCollector<string>();
    const options = { pattern: patternOf(target), category: "cmd", batch: 4, maxInFlight: 4 } as const;
    await receiver.bus.consume({ ...options, durable: `d_${target}`, ackWaitMs: 1000, maxDeliver: 50 }, (delivery) =>
      came.push(delivery.payload),
    );
    const sent = Array.from({ length: 60 }, (_, n) => String(n));
    const sending = (async () => {
      for (const payload of sent) await publishSurely(sender.bus, target, payload);
    })();
    await came.until(10);
    await disturb(harness.server);
    await sending;
    await eventually(() => new Set(came.items).size === sent.length);
    expect(new Set(came.items)).toEqual(new Set(sent));
    expect(harness.lost).toEqual([]);
    await Promise.all([sender.close(), receiver.close()]);
  });
});

test("[ARCH-6-60] a server that lost its store gets streams and durables again, and everybody goes on", async () => {
  const { bus, close } = await harness.start();
  const commands = createCollector<string>();
  const events = createCollector<string>();
  await bus.ensureDurables([{ durable: "tool_kept", pattern: patternOf("kept") }]);
  await bus.consume({ durable: "cmd_wiped", pattern: patternOf("wiped"), category: "cmd" }, (d) =>
    commands.push(d.payload),
  );
  // A durable that begins at what is new: events published before it is made again must not be missed either.
  await bus.consume({ durable: "evt_wiped", pattern: patternOf("wiped", "evt"), category: "evt" }, (d) =>
    events.push(d.payload),
  );
  await publishSurely(bus, "wiped", "before");
  await commands.until(1);
  await harness.server.wipe();
  await Promise.all([
    publishSurely(bus, "wiped", "after"),
    publishSurely(bus, "wiped", "after", "evt"),
    publishSurely(bus, "kept", "after"),
  ]);
  await Promise.all([commands.until(2), events.until(1)]);
  const fetched = await eventually(() =>
    bus
      .commands("tool_kept")
      .fetch({ max: 5, waitMs: 1000 })
      .then((got) => (got.length > 0 ? got : undefined))
      .catch(() => undefined),
  );
  expect([commands.items, events.items, fetched?.map(({ payload }) => payload)]).toEqual([
    ["before", "after"],
    ["after"],
    ["after"],
  ]);
  await fetched?.[0]?.ack();
  await close();
});

test("a stream that somebody deleted is made again by the next message, its durables too", async () => {
  const { bus, close } = await harness.start();
  await bus.ensureDurables([{ durable: "tool_deleted", pattern: patternOf("deleted") }]);
  const bare = await openBareNats({ url: harness.server.url, name: "operator" }, { log: silentLog });
  const answer = await bare.ask("$JS.API.STREAM.DELETE.cg_cmd_v1r4", "", { timeoutMs: 60_000 });
  expect(JSON.parse(answer.payload)).toMatchObject({ success: true });
  await bus.publish([{ subject: subjectOf("deleted"), headers: {}, payload: "on" }]);
  const fetched = await eventually(() =>
    bus
      .commands("tool_deleted")
      .fetch({ max: 1, waitMs: 1000 })
      .then((got) => (got.length > 0 ? got : undefined))
      .catch(() => undefined),
  );
  expect(fetched?.map(({ payload, attempt }) => [payload, attempt])).toEqual([["on", 1]]);
  await fetched?.[0]?.ack();
  await bare.close();
  await close();
});

test("[ARCH-6-60] commands that are done leave the server; open ones and those without a durable stay for now", async () => {
  const { bus, close } = await harness.start({ keepCommandsMs: 1_000 });
  const done = createCollector<string>();
  const held = async (target: string): Promise<boolean> => (await bus.commandSubjects()).includes(subjectOf(target));
  const publish = (target: string, payload: string): Promise<void> =>
    bus.publish([{ subject: subjectOf(target), headers: {}, payload }]);
  await bus.consume({ durable: "tool_done", pattern: patternOf("done"), category: "cmd", batch: 50 }, (d) =>
    done.push(d.payload),
  );
  const numbers = Array.from({ length: 300 }, (_, n) => String(n));
  await publish("nobody", "x");
  for (const number of numbers.slice(0, 200)) await publish("done", number);
  await publish("late", "before its durable");
  await bus.ensureDurables([{ durable: "tool_late", pattern: patternOf("late") }]);
  for (const number of numbers.slice(200)) await publish("done", number);
  await done.until(numbers.length);
  await eventually(async () => !(await held("nobody")));
  expect([await held("late"), await held("done")]).toEqual([true, true]);
  const late = await bus.commands("tool_late").fetch({ max: 5, waitMs: 10_000 });
  expect([late.map(({ payload }) => payload), done.items]).toEqual([["before its durable"], numbers]);
  await late[0]?.ack();
  await eventually(async () => (await bus.commandSubjects()).length === 0);
  await close();
});

test("[ARCH-6-61] while the server is away publishing and fetching fail soon, with a code that says later", async () => {
  const { bus, link, close } = await harness.start();
  const message = { subject: subjectOf("away"), headers: {}, payload: "x", messageId: "away" };
  await bus.publish([message]);
  const inFlight = Array.from({ length: 200 }, (_, n) => ({ ...message, messageId: `in-flight-${n}` }));
  const publishing = Promise.allSettled(inFlight.map((one) => bus.publish([one])));
  await harness.server.kill();
  // Waits below are longer than a test may take: what does not fail by itself does not end.
  await publishing;
  await expect(bus.publish([message])).rejects.toMatchObject({ code: "upstream_unavailable", retry: "unsafe" });
  await expect(bus.commands("tool_away").fetch({ max: 1, waitMs: 3_600_000 })).rejects.toMatchObject({
    code: "upstream_unavailable",
  });
  await expect(
    link.request({ subject: "a", headers: {}, payload: "" }, { timeoutMs: 3_600_000 }),
  ).rejects.toMatchObject({
    code: "upstream_unavailable",
  });
  await expect(bus.consume({ durable: "x", pattern: patternOf("x"), category: "cmd" }, () => {})).rejects.toMatchObject(
    {
      code: "upstream_unavailable",
    },
  );
  const chunk = "cg.v1r4.p1.public.str.agent.a.chunk";
  bus.publishStream({ subject: chunk, payload: "lost" });
  expect(bus.stats()).toMatchObject({ streamItems: 1, streamItemsDropped: 1 });
  // Who begins to listen now misses nothing but what is lost anyway.
  const heard = createCollector<string>();
  await bus.subscribeStream("cg.v1r4.*.*.str.agent.a.>", ({ payload }) => heard.push(payload));
  expect(link.connected()).toBe(false);
  await harness.server.restart();
  await publishSurely(bus, "away", "again");
  expect(link.connected()).toBe(true);
  bus.publishStream({ subject: chunk, payload: "heard" });
  await heard.until(1);
  expect(heard.items).toEqual(["heard"]);
  await close();
});

test("[ARCH-6-61] closing while the server is away does not hang", async () => {
  const { bus, link } = await harness.start();
  const holding = createCollector<string>();
  await bus.consume({ durable: "holds", pattern: patternOf("holds"), category: "cmd" }, async (delivery) => {
    holding.push(delivery.payload);
    await new Promise(() => {});
  });
  await publishSurely(bus, "holds", "held");
  await holding.until(1);
  await harness.server.kill();
  await bus.close({ drainMs: 0 });
  await link.close();
  await harness.server.restart();
});
