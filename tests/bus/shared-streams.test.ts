// Lossy streams of the postgres bus: through the table between processes, around it inside one.

import { systemClock } from "@toolplane/engine";
import { createCollector, eventually, MEDDLINGS, meddle, withTestClient } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createManualClock } from "./manual-clock.ts";
import { openPostgresHarness, type PostgresHarness, startCompany } from "./postgres-harness.ts";

let harness: PostgresHarness;
beforeAll(async () => {
  harness = await openPostgresHarness();
});
afterAll(async () => {
  await harness.close();
});

test("[BUS-15] an item that another process commits late is not passed over", async () => {
  const [writer, reader] = [harness.start(), harness.start()];
  await eventually(() => reader.doorbell.stats().connected && writer.doorbell.stats().connected);
  const subject = "cg.v1r4.p_late.public.str.agent.a.chunk";
  const came = createCollector<string>();
  await reader.bus.subscribeStream("cg.v1r4.p_late.*.str.>", ({ payload }) => came.push(payload));
  await withTestClient(harness.database.url, async (slow) => {
    await slow.query("begin");
    await slow.query(MEDDLINGS.addEarlyStreamItem, [subject]);
    writer.bus.publishStream({ subject, payload: "quick" });
    expect(await came.until(1)).toEqual(["quick"]);
    await slow.query("commit");
  });
  writer.doorbell.ring("streams");
  expect(await came.until(2)).toEqual(["quick", "early"]);
});

test("[BUS-15] without a database streams of this process still flow", async () => {
  const own = await openPostgresHarness();
  const { bus } = own.start();
  const came = createCollector<string>();
  await bus.subscribeStream("cg.v1r4.*.*.str.>", ({ payload }) => came.push(payload));
  const unlock = await own.lockOut();
  for (const payload of ["a", "b", "c"]) bus.publishStream({ subject: "cg.v1r4.p.public.str.agent.a.chunk", payload });
  expect(came.items).toEqual(["a", "b", "c"]);
  await eventually(() => bus.stats().streamItemsDropped === 3);
  await unlock();
  await own.close();
});

test("[ARCH-6-26] streams keep to their own bell: consumers of messages are not woken by them", async () => {
  const own = await openPostgresHarness();
  const clock = createManualClock();
  const [reader, writer] = await startCompany(own, [clock]);
  await reader.bus.consume({ durable: "d", pattern: "cg.v1r4.p_q.*.cmd.tool.desk.>", category: "cmd" }, () => {});
  await eventually(() => clock.sleeping().length > 0);
  const before = reader.db.stats().statements;
  const { heard } = reader.doorbell.stats();
  writer.bus.publishStream({ subject: "cg.v1r4.p_q.public.str.agent.a.chunk", payload: "x" });
  await eventually(() => reader.doorbell.stats().heard > heard);
  expect(reader.db.stats().statements).toBe(before);
  // The bell of messages does wake them.
  writer.doorbell.ring("messages");
  await eventually(() => reader.db.stats().statements > before);
  await own.close();
});

test("[ARCH-6-27] shared stream items are trimmed by age", async () => {
  const clock = { ...systemClock, now: () => offset };
  let offset = 0;
  const { bus } = harness.start({ clock });
  const subject = "cg.v1r4.p_trim.public.str.agent.a.chunk";
  const held = () => harness.rows("select payload from bus.stream_items where subject = $1 order by id", [subject]);
  bus.publishStream({ subject, payload: "old" });
  await eventually(async () => (await held()).length === 1);
  await meddle(harness.database.url, "ageStreamItems", [subject]);
  offset = 60_000;
  bus.publishStream({ subject, payload: "young" });
  await eventually(async () => (await held()).every(({ payload }) => payload === "young"));
});
