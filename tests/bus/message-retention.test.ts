// How long messages are kept, and what goes with them.

import { type FaultPoint, noFaults, trimMessages } from "@toolplane/engine/internal";
import { createCollector, meddle } from "@toolplane/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openPostgresHarness, type PostgresHarness, type PostgresProcess } from "./postgres-harness.ts";

let harness: PostgresHarness;
let engine: PostgresProcess;
beforeEach(async () => {
  harness = await openPostgresHarness();
  engine = harness.start();
});
afterEach(async () => {
  await harness.close();
});

const publish = (category: "cmd.tool" | "evt.agent", ...payloads: readonly string[]) =>
  engine.bus.publish(
    payloads.map((payload) => ({ subject: `cg.v1r4.p1.public.${category}.desk.work`, headers: {}, payload })),
  );

const age = (interval: string, ...payloads: readonly string[]) =>
  meddle(harness.database.url, "ageMessages", [interval, payloads]);

const left = async (): Promise<unknown[]> =>
  (await harness.rows("select payload from bus.messages order by id")).map(({ payload }) => payload);

test("[UTP-1.3-19] [ARCH-6-38] commands are kept for a day and events for a week", async () => {
  await publish("cmd.tool", "cmd 23h", "cmd 25h");
  await publish("evt.agent", "evt 6d", "evt 8d");
  await age("23 hours", "cmd 23h");
  await age("25 hours", "cmd 25h");
  await age("6 days", "evt 6d");
  await age("8 days", "evt 8d");
  expect(await trimMessages({ db: engine.db, faults: noFaults })).toEqual({ commands: 1, events: 1, sentEvents: 0 });
  expect(await left()).toEqual(["cmd 23h", "evt 6d"]);
});

test("[ARCH-6-38] much is trimmed in small bites, and stopping stops between them", async () => {
  const payloads = Array.from({ length: 95 }, (_, n) => `old ${n}`);
  await publish("evt.agent", ...payloads, "young");
  await age("8 days", ...payloads);
  const points: FaultPoint[] = [];
  const stop = new AbortController();
  const faults = {
    at: (point: FaultPoint) => {
      points.push(point);
      if (points.filter((reached) => reached === "retain:after-commit").length === 4) stop.abort();
    },
  };
  const first = await trimMessages({ db: engine.db, faults, limit: 10, signal: stop.signal });
  // One look at the commands, then three bites of events.
  expect(first).toEqual({ commands: 0, events: 30, sentEvents: 0 });
  const rest = await trimMessages({ db: engine.db, faults: noFaults, limit: 10 });
  expect(rest).toEqual({ commands: 0, events: 65, sentEvents: 0 });
  expect(await left()).toEqual(["young"]);
});

test("a command in somebody's hands is not trimmed", async () => {
  const taken = createCollector<string>();
  const options = { durable: "d", pattern: "cg.v1r4.p1.*.cmd.tool.desk.>", category: "cmd" } as const;
  await engine.bus.consume(options, async ({ payload }) => {
    taken.push(payload);
    await new Promise(() => {});
  });
  await publish("cmd.tool", "held");
  await taken.until(1);
  await publish("cmd.tool", "waiting");
  await age("25 hours", "held", "waiting");
  await trimMessages({ db: engine.db, faults: noFaults });
  expect(await left()).toEqual(["held"]);
});

test("an event's deliveries go with it, and a delivery whose event is gone is dropped", async () => {
  const came = createCollector<string>();
  const options = { durable: "d", pattern: "cg.v1r4.p1.*.evt.agent.desk.>", category: "evt", ackWaitMs: 100 } as const;
  const consumer = await engine.bus.consume({ ...options, maxDeliver: 2 }, ({ payload }) => came.push(payload));
  await publish("evt.agent", "seen");
  await came.until(1);
  await consumer.stop();
  const deliveries = () => harness.rows("select id from bus.deliveries");
  await publish("evt.agent", "old", "torn");
  await meddle(harness.database.url, "addDeliveries", [["old", "torn"]]);
  await age("8 days", "seen", "old");
  expect(await trimMessages({ db: engine.db, faults: noFaults })).toEqual({ commands: 0, events: 2, sentEvents: 0 });
  expect(await deliveries()).toHaveLength(1);
  await meddle(harness.database.url, "tearMessage");
  const again = await engine.bus.consume({ ...options, maxDeliver: 2 }, ({ payload }) => came.push(payload));
  await publish("evt.agent", "next");
  expect(await came.until(2)).toEqual(["seen", "next"]);
  await expect.poll(deliveries).toEqual([]);
  await again.stop();
});
