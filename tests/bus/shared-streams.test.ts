// Lossy streams of the postgres bus: through the table between processes, around it inside one.

import { systemClock } from "@toolplane/engine";
import { createCollector, eventually, MEDDLINGS, meddle, withTestClient } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
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

test("[ARCH-6-26] streams keep to their own bell: those who wait for messages are not woken by them", async () => {
  const own = await openPostgresHarness();
  const [reader, writer] = await startCompany(own);
  const woken: string[] = [];
  reader.doorbell.listen("messages", (from) => woken.push(from));
  const { heard } = reader.doorbell.stats();
  writer.bus.publishStream({ subject: "cg.v1r4.p_q.public.str.agent.a.chunk", payload: "x" });
  await eventually(() => reader.doorbell.stats().heard > heard);
  expect(woken).toEqual([]);
  writer.doorbell.ring("messages");
  await eventually(() => woken.length > 0);
  await own.close();
});

test("[ARCH-6-26] a process that is alone writes no items, and one that has met another does", async () => {
  const own = await openPostgresHarness();
  const writer = own.start();
  await eventually(() => writer.doorbell.stats().alone);
  const subject = "cg.v1r4.p_alone.public.str.agent.a.chunk";
  const held = () => own.rows("select payload from bus.stream_items order by id");
  writer.bus.publishStream({ subject, payload: "to nobody" });
  const reader = own.start();
  await eventually(() => !writer.doorbell.stats().alone);
  const came = createCollector<string>();
  await reader.bus.subscribeStream("cg.v1r4.p_alone.*.str.>", ({ payload }) => came.push(payload));
  writer.bus.publishStream({ subject, payload: "to another" });
  expect(await came.until(1)).toEqual(["to another"]);
  expect(await held()).toEqual([{ payload: "to another" }]);
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
