// The outbox: messages leave with the transaction that caused them, and only then (I3, W-02).

import { stuckMessages, whyStuck } from "@toolplane/engine/internal";
import { appendMessages, meddle } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPostgresHarness, type PostgresHarness } from "./postgres-harness.ts";

let harness: PostgresHarness;
beforeAll(async () => {
  harness = await openPostgresHarness();
});
afterAll(async () => {
  await harness.close();
});

const message = (project: string, payload: string, category = "cmd.tool", target = "desk") => ({
  subject: `cg.v1r4.${project}.public.${category}.${target}.work`,
  headers: { "CG-Agent-Id": "a1" },
  payload,
});

const stored = (project: string) =>
  harness.rows("select payload, message_id from bus.messages where project_id = $1 order by id", [project]);

test("[UTP-W02] [ARCH-6-23] a message is committed with its cause, or not at all", async () => {
  const writer = harness.start();
  const failed = writer.db.transaction(async (tx) => {
    await appendMessages(tx, [message("p_tx", "never")]);
    throw new RangeError("the cause did not happen");
  });
  await expect(failed).rejects.toThrow();
  await writer.db.transaction(async (tx) => {
    expect(await appendMessages(tx, [message("p_tx", "a"), message("p_tx", "b")])).toBe(2);
    // Not before the commit, not even for ourselves elsewhere.
    expect(await stored("p_tx")).toEqual([]);
  });
  expect((await stored("p_tx")).map(({ payload }) => payload)).toEqual(["a", "b"]);
});

test("messages of one call keep their order, and a known message id is left alone", async () => {
  const { db } = harness.start();
  const named = { ...message("p_ids", "once"), messageId: "m1" };
  expect(await db.transaction((tx) => appendMessages(tx, [named, message("p_ids", "free"), named]))).toBe(2);
  expect(await db.transaction((tx) => appendMessages(tx, [{ ...named, payload: "other" }]))).toBe(0);
  expect(await db.transaction((tx) => appendMessages(tx, []))).toBe(0);
  expect(await stored("p_ids")).toEqual([
    { payload: "once", message_id: "m1" },
    { payload: "free", message_id: null },
  ]);
});

test("[BUS-2] one message that no bus may carry refuses the whole call before anything is written", async () => {
  const { db } = harness.start();
  const bad = { ...message("p_bad", "x"), subject: "cg.v1r4.p_bad.public.cmd.tool.*.work" };
  const append = db.transaction((tx) => appendMessages(tx, [message("p_bad", "good"), bad]));
  await expect(append).rejects.toMatchObject({ code: "protocol_violation" });
  expect(await stored("p_bad")).toEqual([]);
});

test("[ARCH-6-32] stuck messages are those that could have left for too long, by receiver, the oldest first", async () => {
  const own = await openPostgresHarness();
  const { db } = own.start();
  await appendMessages(db, [
    message("p1", "a"),
    message("p1", "b"),
    message("p1", "c", "cmd.sys", "pmo"),
    message("p1", "fact", "evt.agent", "a1"),
  ]);
  await meddle(own.database.url, "ageMessagesFor", [["desk", "a1"]]);
  const entry = { category: "cmd", projectId: "p1", component: "tool", target: "desk" };
  const fact = { category: "evt", projectId: "p1", component: "agent", target: "a1", messages: 1 };
  const stuck = await stuckMessages({ db, carrier: "external", olderThanMs: 30_000 });
  expect(stuck).toHaveLength(2);
  expect(stuck).toEqual(
    expect.arrayContaining([expect.objectContaining({ ...entry, messages: 2 }), expect.objectContaining(fact)]),
  );
  expect(stuck[0]?.oldestMs).toBeGreaterThanOrEqual(60_000);
  expect(await stuckMessages({ db, carrier: "external", olderThanMs: 30_000, limit: 1 })).toMatchObject([
    { messages: 1 },
  ]);
  expect(await stuckMessages({ db, carrier: "external", olderThanMs: 3_600_000 })).toEqual([]);
  // Without a bus beside the database nothing has to leave.
  expect(await stuckMessages({ db, carrier: "postgres", olderThanMs: 30_000 })).toEqual([]);
  await own.close();
});

test("the reason why messages wait says when the bus is away", () => {
  expect(whyStuck({ outages: 2 })).toContain("the bus does not answer");
  expect(whyStuck({ outages: 0 })).toContain("no consumer takes them");
  expect(whyStuck(undefined)).toContain("no consumer takes them");
});
