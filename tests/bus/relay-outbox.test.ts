// The relay to an external bus: everything leaves, under one id each, whatever fails in between.

import { createIds, silentLog, systemClock } from "@toolplane/engine";
import {
  type FaultPoint,
  type Faults,
  noFaults,
  type RelayOptions,
  relayOutbox,
  type Statement,
} from "@toolplane/engine/internal";
import { ToolplaneError } from "@toolplane/protocol";
import { appendMessages, createCollector, createLatch, eventually, meddle } from "@toolplane/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openPostgresHarness, type PostgresHarness, type PostgresProcess } from "./postgres-harness.ts";
import { createScriptedBus, type ScriptedBus } from "./scripted-bus.ts";

let harness: PostgresHarness;
let engine: PostgresProcess;
let bus: ScriptedBus;
beforeEach(async () => {
  harness = await openPostgresHarness();
  engine = harness.start();
  bus = createScriptedBus();
});
afterEach(async () => {
  await harness.close();
});

const message = (payload: string, messageId?: string) => ({
  subject: "cg.v1r4.p1.public.cmd.tool.desk.work",
  headers: { "CG-Tool-Call-Id": "call_1" },
  payload,
  messageId,
});

const append = async (...payloads: readonly string[]): Promise<void> => {
  const messages = payloads.map((payload) => message(payload));
  await engine.db.transaction((tx) => appendMessages(tx, messages));
  engine.doorbell.ring("messages");
};

const start = (options: Partial<RelayOptions> = {}, process = engine) =>
  relayOutbox({
    db: process.db,
    doorbell: process.doorbell,
    bus,
    ids: createIds(),
    clock: systemClock,
    log: silentLog,
    faults: noFaults,
    ...options,
  });

const left = async (): Promise<unknown[]> =>
  (await harness.rows("select payload from bus.messages order by id")).map(({ payload }) => payload);

const untilEmpty = () => eventually(async () => (await left()).length === 0);

const unavailable = () => new ToolplaneError("upstream_unavailable", "the bus is away");

test("[ARCH-6-33] what is committed leaves as it was written, commands and events, and the outbox is empty", async () => {
  const event = { ...message("fact"), subject: "cg.v1r4.p1.public.evt.agent.a1.task" };
  await engine.db.transaction((tx) => appendMessages(tx, [message("work", "m1"), event]));
  const relay = start();
  const accepted = await bus.accepted.until(2);
  await untilEmpty();
  expect(accepted).toEqual([message("work", "m1"), { ...event, messageId: expect.any(String) }]);
  expect(bus.asked.items).toEqual([2]);
  expect(relay.stats()).toEqual({ published: 2, batches: 1, failed: 0, buried: 0, outages: 0 });
  await relay.stop();
});

test("[ARCH-6-34] neither its claim nor its deletion waits for the disk: a lost one is published again under its id", async () => {
  await append("work");
  const commits = new Map<string, unknown>();
  const wait = { name: "test_wait", text: "select set_config('synchronous_commit', 'on', true)" };
  const ask = { name: "test_commit", text: "select current_setting('synchronous_commit') as commit" };
  const db = {
    ...engine.db,
    query: <Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Row[]> =>
      engine.db.transaction(async (tx) => {
        await tx.query(wait);
        const rows = await tx.query<Row>(statement, values);
        commits.set(statement.name, (await tx.query<{ commit: string }>(ask))[0]?.commit);
        return rows;
      }),
  };
  const relay = start({ db });
  await untilEmpty();
  await relay.stop();
  expect(Object.fromEntries(commits)).toEqual({ outbox_carry: "off" });
});

test("[ARCH-6-24] it waits for the doorbell, not for the clock", async () => {
  const never = { ...systemClock, sleep: (_: number, signal?: AbortSignal) => aborted(signal) };
  const relay = start({ clock: never });
  await append("rung");
  await bus.accepted.until(1);
  await relay.stop();
});

test("[BUS-12] [BUS-16] an open transaction holds nobody up, its message leaves when it commits, and a lost ring costs time only", async () => {
  const relay = start({ lookAgainMs: 20 });
  const [written, end] = [createLatch(), createLatch()];
  const early = engine.db.transaction(async (tx) => {
    await appendMessages(tx, [message("first")]);
    written.open();
    await end.opened;
  });
  await written.opened;
  await append("second");
  expect((await bus.accepted.until(1)).map(({ payload }) => payload)).toEqual(["second"]);
  end.open();
  // Nobody rings for it.
  await early;
  expect((await bus.accepted.until(2)).map(({ payload }) => payload)).toEqual(["second", "first"]);
  await relay.stop();
});

const aborted = (signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) resolve();
    signal?.addEventListener("abort", () => resolve());
  });

/** Fails once at the point: as much of a crash as one process can have and be watched. */
const crashAt = (point: FaultPoint): Faults => {
  let crashed = false;
  return {
    at: (reached) => {
      if (reached !== point || crashed) return;
      crashed = true;
      throw new ToolplaneError("internal_error", `crashed at ${point}`);
    },
  };
};

test("[ARCH-6-34] a relay that dies between publishing and deleting is followed by one that publishes under the same ids", async () => {
  await append("a", "b");
  await engine.db.transaction((tx) => appendMessages(tx, [message("named", "m1")]));
  const first = start({ faults: crashAt("relay:after-publish"), claimMs: 300 });
  await bus.accepted.until(3);
  await first.stop();
  expect(await left()).toEqual(["a", "b", "named"]);
  const second = start({ claimMs: 300, lookAgainMs: 100 }, harness.start());
  await bus.accepted.until(6);
  await untilEmpty();
  await second.stop();
  const ids = bus.accepted.items.map(({ messageId }) => messageId);
  expect(ids.slice(3)).toEqual(ids.slice(0, 3));
  expect(new Set(ids).size).toBe(3);
  expect(ids[2]).toBe("m1");
});

test("[ARCH-6-34] a batch a slow bus takes its time for stays with its relay, however short a claim is", async () => {
  const answers = createLatch();
  const slow: RelayOptions["bus"] = {
    async publish(messages) {
      await bus.publish(messages);
      await answers.opened;
    },
  };
  const claimMs = 500;
  await append("slow");
  const first = start({ bus: slow, claimMs });
  await bus.asked.until(1);
  const second = start({ bus: slow, claimMs, lookAgainMs: 50 }, harness.start());
  // Ours for twice as long as one claim is.
  const late = "select from bus.messages where available_at > created_at + $1::int * interval '1 millisecond'";
  await eventually(async () => (await harness.rows(late, [3 * claimMs])).length === 1);
  expect(bus.asked.items).toEqual([1]);
  answers.open();
  await untilEmpty();
  await Promise.all([first.stop(), second.stop()]);
  expect(bus.accepted.items.map(({ payload }) => payload)).toEqual(["slow"]);
});

test("[ARCH-6-34] after the deletion a death changes nothing", async () => {
  await append("once");
  const relay = start({ faults: crashAt("relay:after-mark") });
  await untilEmpty();
  await append("next");
  await bus.accepted.until(2);
  await relay.stop();
  expect(bus.accepted.items.map(({ payload }) => payload)).toEqual(["once", "next"]);
});

test("[ARCH-6-35] while the bus is away everything stays, and leaves when it is back", async () => {
  bus.script(unavailable);
  const relay = start({ lookAgainMs: 100 });
  await append("a", "b", "c");
  await eventually(() => relay.stats().failed >= 3);
  expect(await left()).toEqual(["a", "b", "c"]);
  bus.script(() => undefined);
  await bus.accepted.until(3);
  await untilEmpty();
  expect(await harness.rows("select from state.dead_letters")).toEqual([]);
  await relay.stop();
});

test("[ARCH-6-35] one message that cannot leave now does not hold up the others", async () => {
  bus.script(({ payload }) => (payload === "stuck" ? unavailable() : undefined));
  const relay = start({ lookAgainMs: 100 });
  await append("a", "stuck", "b");
  await bus.accepted.until(2);
  await eventually(async () => (await left()).length === 1);
  expect(await left()).toEqual(["stuck"]);
  bus.script(() => undefined);
  await bus.accepted.until(3);
  await untilEmpty();
  await relay.stop();
});

test("[ARCH-6-35] a command that only its receiver misses is not an outage: it waits, and the relay does not", async () => {
  const unheard = () =>
    new ToolplaneError("upstream_unavailable", "no service listens", { detail: { reason: "unheard" } });
  bus.script(({ payload }) => (payload === "unheard" ? unheard() : undefined));
  const relay = start();
  await append("unheard");
  await eventually(() => relay.stats().failed >= 1);
  await append("heard");
  await bus.accepted.until(1);
  expect(relay.stats()).toMatchObject({ outages: 0, buried: 0 });
  // The row of a message goes a moment after the message.
  await eventually(async () => (await left()).join() === "unheard");
  bus.script(() => undefined);
  await untilEmpty();
  await relay.stop();
});

test("[ARCH-6-36] a message the bus refuses for good becomes a dead letter, and the others leave", async () => {
  bus.script(({ payload }) =>
    payload === "huge" ? new ToolplaneError("payload_too_large", "more than the server takes") : undefined,
  );
  const relay = start();
  await append("a", "huge", "b");
  await bus.accepted.until(2);
  await untilEmpty();
  expect(relay.stats()).toEqual({ published: 2, batches: 1, failed: 0, buried: 1, outages: 0 });
  const letters = await harness.rows("select kind, tool_call_id, code, payload, attempts from state.dead_letters");
  const refused = { kind: "message", tool_call_id: "call_1", code: "payload_too_large" };
  expect(letters).toEqual([{ ...refused, payload: "huge", attempts: 1 }]);
  await relay.stop();
});

test("[ARCH-6-36] [ARCH-6-35] a parcel of events with one that is refused for good waits until its others have left", async () => {
  const lines = ["later", "huge"].map((phase) => `1\t\t{"agent_turn_id":"t1","phase":"${phase}"}`).join("\n");
  await meddle(harness.database.url, "addParcelOfTwo", [lines]);
  let away = true;
  bus.script(({ payload }) => {
    if (payload.includes("huge")) return new ToolplaneError("payload_too_large", "more than the server takes");
    return away ? unavailable() : undefined;
  });
  const relay = start();
  await eventually(() => relay.stats().failed > 0);
  expect(relay.stats()).toMatchObject({ published: 0, buried: 0 });
  expect(await left()).toHaveLength(1);
  away = false;
  expect((await bus.accepted.until(1)).map(({ payload }) => payload)).toEqual([expect.stringContaining("later")]);
  await untilEmpty();
  expect(relay.stats()).toMatchObject({ published: 0, buried: 1 });
  await relay.stop();
});

test("[ARCH-6-37] two relays share the work: nothing is published twice, nothing is left", async () => {
  const payloads = Array.from({ length: 300 }, (_, n) => String(n));
  const relays = [start({ batch: 7 }), start({ batch: 7 }, harness.start())];
  for (let n = 0; n < 300; n += 10) await append(...payloads.slice(n, n + 10));
  await bus.accepted.until(300);
  await untilEmpty();
  await Promise.all(relays.map((relay) => relay.stop()));
  expect(bus.accepted.items.map(({ payload }) => Number(payload)).sort((a, b) => a - b)).toEqual(payloads.map(Number));
});

test("what was put off leaves when it is due, not at the next slow look", async () => {
  await append("later");
  await meddle(harness.database.url, "putOffMessages");
  const relay = start({ lookAgainMs: 600_000 });
  const [accepted] = await bus.accepted.until(1);
  expect(accepted).toMatchObject({ payload: "later" });
  await relay.stop();
});

test("stopping finishes the batch in hand", async () => {
  const held = createCollector<() => void>();
  const slow = {
    publish: async (messages: Parameters<typeof bus.publish>[0]) => {
      await new Promise<void>((resolve) => held.push(resolve));
      await bus.publish(messages);
    },
  };
  const relay = start({ bus: slow });
  await append("last");
  await held.until(1);
  const stopping = relay.stop();
  held.items[0]?.();
  await stopping;
  expect(await left()).toEqual([]);
});
