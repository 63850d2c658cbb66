// B16: a lost ring or a lost connection costs latency, never a message; and nobody polls.

import { createIds, silentLog } from "@toolplane/engine";
import { createPostgresBus, LOOK_AGAIN_MS, noFaults } from "@toolplane/engine/internal";
import { createCollector, createLatch, eventually } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createManualClock } from "./manual-clock.ts";
import { openPostgresHarness, type PostgresHarness } from "./postgres-harness.ts";

let harness: PostgresHarness;
beforeAll(async () => {
  harness = await openPostgresHarness();
});
afterAll(async () => {
  await harness.close();
});

/** Hears nothing and rings for nobody. */
const deafDoorbell = {
  ring: () => {},
  listen: () => () => {},
  stats: () => ({ connected: false, alone: false, connections: 0, rings: 0, sent: 0, heard: 0 }),
  close: () => Promise.resolve(),
};

describe.each(["cmd", "evt"] as const)("%s", (category) => {
  const component = category === "cmd" ? "tool" : "agent";
  const message = (project: string, payload: string) => ({
    subject: `cg.v1r4.${project}.public.${category}.${component}.desk.work`,
    headers: {},
    payload,
  });
  const consumption = (project: string) => ({
    durable: `d_${project}_${category}`,
    pattern: `cg.v1r4.${project}.*.${category}.${component}.desk.>`,
    category,
  });

  test("[BUS-16] [ARCH-6-24] a consumer that hears no bell finds messages by its slow look", async () => {
    const [writer, reader] = [harness.start(), harness.start()];
    const clock = createManualClock();
    const ground = { db: reader.db, ids: createIds(), log: silentLog, faults: noFaults };
    const bus = createPostgresBus({ ...ground, clock, doorbell: deafDoorbell });
    const came = createCollector<string>();
    await bus.consume(consumption("p_deaf"), ({ payload }) => came.push(payload));
    await eventually(() => clock.sleeping().length > 0);
    await writer.bus.publish([message("p_deaf", "unheard")]);
    expect(clock.sleeping()).toEqual([LOOK_AGAIN_MS]);
    clock.advance(LOOK_AGAIN_MS);
    expect(await came.until(1)).toEqual(["unheard"]);
    await bus.close();
  });

  test("[ARCH-6-24] an idle consumer runs no statement until the bell or the slow look", async () => {
    const clock = createManualClock();
    const reader = harness.start({ clock, lookAgainMs: 7777 });
    const came = createCollector<string>();
    await eventually(() => reader.doorbell.stats().connected);
    await reader.bus.consume(consumption("p_idle"), ({ payload }) => came.push(payload));
    await eventually(() => clock.sleeping().includes(7777));
    const before = reader.db.stats().statements;
    clock.advance(7776);
    expect(reader.db.stats().statements).toBe(before);
    // A message from elsewhere rings; no time has to pass.
    await harness.start().bus.publish([message("p_idle", "rung")]);
    expect(await came.until(1)).toEqual(["rung"]);
    await reader.close();
  });

  test("[BUS-16] consumers go on after all their connections were cut", async () => {
    const [writer, reader] = [harness.start(), harness.start({ name: `victim_${category}` })];
    const came = createCollector<string>();
    await reader.bus.consume({ ...consumption("p_cut"), batch: 5, maxInFlight: 5 }, ({ payload }) =>
      came.push(payload),
    );
    await writer.bus.publish([message("p_cut", "before")]);
    await came.until(1);
    await eventually(() => reader.doorbell.stats().connected);
    const { connections } = reader.doorbell.stats();
    await harness.cut(`victim_${category}`);
    await writer.bus.publish([message("p_cut", "after")]);
    await came.until(2);
    expect(came.items).toEqual(["before", "after"]);
    await eventually(() => reader.doorbell.stats().connections > connections);
  });
});

test("[BUS-16] through an outage of the server nothing is lost: publishing says so, handling goes on afterwards", async () => {
  const own = await openPostgresHarness();
  const [writer, reader] = [own.start(), own.start()];
  const came = createCollector<string>();
  const finish = createLatch();
  const subject = "cg.v1r4.p_out.public.cmd.tool.desk.work";
  const options = {
    durable: "d",
    pattern: "cg.v1r4.p_out.*.cmd.tool.desk.>",
    category: "cmd",
    ackWaitMs: 500,
  } as const;
  await reader.bus.consume(options, async ({ payload, attempt }) => {
    came.push(`${payload} ${attempt}`);
    if (payload === "held" && attempt === 1) await finish.opened;
  });
  await writer.bus.publish([{ subject, headers: {}, payload: "held" }]);
  await came.until(1);
  const unlock = await own.lockOut();
  const publish = () => writer.bus.publish([{ subject, headers: {}, payload: "later", messageId: "m1" }]);
  await expect(publish()).rejects.toMatchObject({ code: "storage_error" });
  // Its acknowledgement cannot be written: the message will come again.
  finish.open();
  await eventually(() => reader.bus.stats().inFlight === 0);
  await unlock();
  await publish();
  await came.until(3);
  expect([...came.items].sort()).toEqual(["held 1", "held 2", "later 1"]);
  await own.close();
});
