// The link: requests, responders, commands fetched by hand; and hostile ones at its doors.

import type { InboundRequest } from "@toolplane/bus/nats";
import { createCollector, createLatch, eventually } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type NatsHarness, type NatsProcess, openNatsHarness } from "./nats-harness.ts";
import { openRawNats } from "./raw-nats.ts";

let harness: NatsHarness;
let one: NatsProcess;
let other: NatsProcess;
beforeAll(async () => {
  harness = await openNatsHarness();
  [one, other] = await Promise.all([harness.start(), harness.start()]);
});
afterAll(() => harness.close());

const SOON = { timeoutMs: 5_000 };
const subjectOf = (name: string): string => `cg.v1r4.p1.public.rpc.gateway.${name}.lease`;

describe("requests", () => {
  test("are answered by one of all who serve, headers and payload as they were said", async () => {
    const served: string[] = [];
    const serve = ({ link }: NatsProcess, name: string) =>
      link.respond(subjectOf("*"), "gateway", (request) => {
        served.push(name);
        return Promise.resolve({ headers: { ...request.headers, "CG-Status": "200" }, payload: `${request.payload}!` });
      });
    const serving = await Promise.all([serve(one, "one"), serve(other, "other")]);
    const headers = { "CG-Tool-Call-Id": "call_1", "X-Note": "a, b" };
    const asked = Array.from({ length: 50 }, (_, n) =>
      one.link.request({ subject: subjectOf("both"), headers, payload: `ü${n}` }, SOON),
    );
    const replies = await Promise.all(asked);
    expect(replies[7]).toEqual({ headers: { ...headers, "CG-Status": "200" }, payload: "ü7!" });
    expect(new Set(served)).toEqual(new Set(["one", "other"]));
    expect(served).toHaveLength(50);
    await Promise.all(serving.map((server) => server.stop()));
    await expect(one.link.request({ subject: subjectOf("both"), headers, payload: "" }, SOON)).rejects.toMatchObject({
      code: "upstream_unavailable",
      detail: { reason: "nobody_listens" },
    });
  });

  test("that nobody answers end in time, or when they are given up", async () => {
    const silent = await other.link.respond(subjectOf("silent"), "gateway", () => Promise.resolve(undefined));
    const request = { subject: subjectOf("silent"), headers: {}, payload: "" };
    await expect(one.link.request(request, { timeoutMs: 50 })).rejects.toMatchObject({
      code: "upstream_unavailable",
      detail: { reason: "timeout" },
    });
    const giveUp = new AbortController();
    const asked = one.link.request(request, { timeoutMs: 60_000, signal: giveUp.signal });
    giveUp.abort();
    await expect(asked).rejects.toMatchObject({ code: "canceled" });
    await expect(one.link.request(request, { timeoutMs: 60_000, signal: giveUp.signal })).rejects.toMatchObject({
      code: "canceled",
    });
    await silent.stop();
  });

  test("larger than the server takes are refused here", async () => {
    const limit = one.link.maxPayload?.() ?? 0;
    expect(limit).toBe(1_048_576);
    const payload = "x".repeat(limit + 1);
    await expect(one.link.request({ subject: "a.b", headers: {}, payload }, SOON)).rejects.toMatchObject({
      code: "payload_too_large",
    });
  });

  test("a responder that throws answers nothing, and stop waits for those that run", async () => {
    const started = createLatch();
    const finish = createLatch();
    const server = await other.link.respond(subjectOf("slow"), "gateway", async ({ payload }) => {
      if (payload === "bad") throw new RangeError("bad");
      started.open();
      await finish.opened;
      return { headers: {}, payload: "late" };
    });
    const ask = (payload: string, timeoutMs: number) =>
      one.link.request({ subject: subjectOf("slow"), headers: {}, payload }, { timeoutMs });
    await expect(ask("bad", 50)).rejects.toMatchObject({ code: "upstream_unavailable" });
    const asked = ask("good", 60_000);
    await started.opened;
    const stopping = server.stop();
    finish.open();
    await stopping;
    expect(await asked).toMatchObject({ payload: "late" });
  });

  test.each<readonly [string, { headers?: string; payload?: Uint8Array | string }, Partial<InboundRequest>]>([
    ["bytes", { payload: Uint8Array.of(0xff) }, { fault: "the payload is not text", payload: "", headers: {} }],
    ["a header twice", { headers: "NATS/1.0\r\nA: 1\r\nA: 2\r\n\r\n" }, { fault: "a header stands more than once" }],
    ["unreadable headers", { headers: "NATS/1.0\r\n(\x01): 1\r\n\r\n" }, { headers: {} }],
    ["no reply", { payload: "x" }, { reply: undefined, payload: "x" }],
  ])("%s from a foreign client reach the responder as what they are, and others go on", async (_, message, seen) => {
    const raw = await openRawNats(harness.server.port);
    const came = createCollector<InboundRequest>();
    const server = await other.link.respond(subjectOf("foreign"), "gateway", (request) => {
      came.push(request);
      return Promise.resolve({ headers: {}, payload: "answer" });
    });
    await raw.publish({ subject: subjectOf("foreign"), ...message });
    const answer = await one.link.request({ subject: subjectOf("foreign"), headers: {}, payload: "" }, SOON);
    expect(answer.payload).toBe("answer");
    expect((await came.until(2))[0]).toMatchObject(seen);
    if (!("payload" in seen) || seen.payload === "") expect(came.items[0]?.fault).toEqual(expect.any(String));
    await server.stop();
    raw.close();
  });

  test("an answer that cannot be read fails that request alone", async () => {
    const raw = await openRawNats(harness.server.port);
    const inbox = createCollector<string>();
    const server = await other.link.respond(subjectOf("liar"), "gateway", ({ reply = "" }) => {
      inbox.push(reply);
      return Promise.resolve(undefined);
    });
    const lies = [
      { headers: "NATS/1.0\r\n(\x01): 1\r\n\r\n" },
      { headers: "NATS/1.0 abc\r\n\x02\r\n\r\n", payload: Uint8Array.of(0xfe) },
    ];
    for (const [n, lie] of lies.entries()) {
      const asked = one.link.request({ subject: subjectOf("liar"), headers: {}, payload: "" }, SOON);
      const refused = expect(asked).rejects.toMatchObject({
        code: "upstream_unavailable",
        detail: { reason: "bad_answer" },
      });
      await inbox.until(n + 1);
      await raw.publish({ subject: inbox.items[n] ?? "", ...lie });
      await refused;
    }
    await server.stop();
    raw.close();
    await one.bus.publish([{ subject: "cg.v1r4.p1.public.evt.agent.a.task", headers: {}, payload: "still here" }]);
  });
});

describe("commands fetched by hand", { concurrent: true }, () => {
  const desk = (target: string) => ({ durable: `tool_${target}`, pattern: `cg.v1r4.*.*.cmd.tool.${target}.>` });
  const command = (target: string, payload: string) => ({
    subject: `cg.v1r4.p1.public.cmd.tool.${target}.run`,
    headers: { "CG-Tool-Call-Id": payload },
    payload,
  });

  test("come as soon as there is one, as many as are there, and each is the taker's to settle", async () => {
    await one.bus.ensureDurables([desk("hand")]);
    const source = other.link.commands("tool_hand");
    const waiting = source.fetch({ max: 10, waitMs: 60_000 });
    await one.bus.publish([command("hand", "first")]);
    const [first] = await waiting;
    expect(first).toMatchObject({ ...command("hand", "first"), attempt: 1 });
    await first?.nak();
    await one.bus.publish(["a", "b", "c"].map((payload) => command("hand", payload)));
    const some = await source.fetch({ max: 3, waitMs: 5_000 });
    const rest = await source.fetch({ max: 3, waitMs: 5_000 });
    const all = [...some, ...rest];
    expect(all.map(({ payload, attempt }) => `${payload} ${attempt}`).sort()).toEqual(["a 1", "b 1", "c 1", "first 2"]);
    await all[0]?.term("not mine");
    await Promise.all(all.slice(1).map((delivery) => delivery.ack()));
    expect(await source.fetch({ max: 3, waitMs: 50 })).toEqual([]);
    // A service keeps no dead letters; the call behind the command is the engine's.
    expect(harness.lost).toEqual([]);
  });

  test("none come after the signal; one that was on its way goes to somebody else", async () => {
    await one.bus.ensureDurables([desk("signal")]);
    const giveUp = new AbortController();
    // Longer than a test may take: without the signal this would not end.
    const waiting = other.link.commands("tool_signal").fetch({ max: 1, waitMs: 3_600_000, signal: giveUp.signal });
    giveUp.abort();
    expect(await waiting).toEqual([]);
    await one.bus.publish([command("signal", "next")]);
    const got = await one.link.commands("tool_signal").fetch({ max: 1, waitMs: 5_000 });
    expect(got.map(({ payload }) => payload)).toEqual(["next"]);
    await got[0]?.ack();
  });

  test("many who wait for one durable get each command once", async () => {
    await one.bus.ensureDurables([desk("many")]);
    const got: string[] = [];
    const take = async ({ link }: NatsProcess): Promise<void> => {
      while (got.length < 40) {
        const deliveries = await link.commands("tool_many").fetch({ max: 4, waitMs: 300 });
        for (const delivery of deliveries) {
          got.push(delivery.payload);
          await delivery.ack();
        }
      }
    };
    const taking = Promise.all([take(one), take(other), take(other)]);
    await one.bus.publish(Array.from({ length: 40 }, (_, n) => command("many", String(n))));
    await taking;
    expect(new Set(got).size).toBe(40);
    expect(got).toHaveLength(40);
  });

  test("a durable that nobody keeps is said to be missing, soon", async () => {
    await expect(other.link.commands("tool_nobody").fetch({ max: 1, waitMs: 60_000 })).rejects.toMatchObject({
      code: "upstream_unavailable",
      message: expect.stringContaining("tool_nobody"),
    });
  });

  test("one in progress is not delivered again; one left alone is", async () => {
    const { durable, pattern } = desk("slow");
    const consumer = await one.bus.consume({ durable, pattern, category: "cmd", ackWaitMs: 2_500 }, () => {});
    await consumer.stop();
    await one.bus.publish([command("slow", "s")]);
    const source = other.link.commands(durable);
    const [held] = await source.fetch({ max: 1, waitMs: 5_000 });
    // Longer than the wait altogether, and each far shorter: a busy machine may be late.
    for (let pulse = 0; pulse < 5; pulse++) {
      await held?.inProgress();
      expect(await source.fetch({ max: 1, waitMs: 550 })).toEqual([]);
    }
    const again = await eventually(async () => {
      const [delivery] = await source.fetch({ max: 1, waitMs: 1_000 });
      return delivery;
    });
    expect(again).toMatchObject({ payload: "s", attempt: 2 });
    await again?.ack();
  });
});

test("a link from elsewhere is refused by the bus", async () => {
  const { createNatsBus } = await import("@toolplane/bus/nats");
  const { silentLog } = await import("@toolplane/engine");
  const link = { ...one.link };
  expect(() => createNatsBus({ link, log: silentLog, bury: () => Promise.resolve() })).toThrow(
    expect.objectContaining({ name: "UsageError" }),
  );
});
