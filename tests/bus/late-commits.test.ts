// Events of transactions that end in another order than they began (B12). Nothing is skipped, nothing waits, nothing is
// read twice, and what is rolled back was never there (I3).

import type { Delivery } from "@toolplane/bus";
import type { Queryer } from "@toolplane/engine";
import { appendMessages, createCollector, createLatch } from "@toolplane/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPostgresHarness, type PostgresHarness, type PostgresProcess } from "./postgres-harness.ts";

let harness: PostgresHarness;
beforeAll(async () => {
  harness = await openPostgresHarness();
});
afterAll(async () => {
  await harness.close();
});

const eventOf = (project: string, payload: string) => ({
  subject: `cg.v1r4.${project}.public.evt.agent.a1.task`,
  headers: {},
  payload,
});

const patternOf = (project: string): string => `cg.v1r4.${project}.*.evt.agent.*.task`;

interface OpenTransaction {
  readonly tx: Queryer;
  commit(): Promise<void>;
  rollBack(): Promise<void>;
}

/** A transaction that stays open until it is told how to end. */
const begin = async (process: PostgresProcess): Promise<OpenTransaction> => {
  const end = createLatch();
  const undo = new RangeError("rolled back on purpose");
  let failure: RangeError | undefined;
  const { promise, resolve } = Promise.withResolvers<Queryer>();
  const ended = process.db
    .transaction(async (tx) => {
      resolve(tx);
      await end.opened;
      if (failure !== undefined) throw failure;
    })
    .catch(() => {});
  const tx = await promise;
  return {
    tx,
    commit: async () => {
      end.open();
      await ended;
      process.doorbell.ring("messages");
    },
    rollBack: async () => {
      failure = undo;
      end.open();
      await ended;
    },
  };
};

test("[BUS-12] [ARCH-6-22] an event that was written first and committed last is still delivered, after a later one was consumed", async () => {
  const [writer, reader] = [harness.start(), harness.start()];
  const came = createCollector<string>();
  const options = { durable: "late", pattern: patternOf("p_late"), category: "evt" } as const;
  await reader.bus.consume(options, ({ payload }) => came.push(payload));
  const early = await begin(writer);
  await appendMessages(early.tx, [eventOf("p_late", "first")]);
  await writer.bus.publish([eventOf("p_late", "second")]);
  // An open transaction holds nobody up.
  expect(await came.until(1)).toEqual(["second"]);
  await early.commit();
  expect(await came.until(2)).toEqual(["second", "first"]);
});

test("[BUS-11] [BUS-12] what is open when a durable begins is new to it", async () => {
  const [writer, reader] = [harness.start(), harness.start()];
  const came = createCollector<string>();
  const open = await begin(writer);
  await appendMessages(open.tx, [eventOf("p_begin", "open")]);
  await writer.bus.publish([eventOf("p_begin", "old")]);
  const options = { durable: "begin", pattern: patternOf("p_begin"), category: "evt" } as const;
  await reader.bus.consume(options, ({ payload }) => came.push(payload));
  await open.commit();
  await writer.bus.publish([eventOf("p_begin", "new")]);
  await came.until(2);
  expect([...came.items].sort()).toEqual(["new", "open"]);
});

test("[ARCH-6-23] what is rolled back never leaves", async () => {
  const [writer, reader] = [harness.start(), harness.start()];
  const came = createCollector<string>();
  const options = { durable: "undone", pattern: patternOf("p_undone"), category: "evt" } as const;
  await reader.bus.consume(options, ({ payload }) => came.push(payload));
  const undone = await begin(writer);
  await appendMessages(undone.tx, [eventOf("p_undone", "never")]);
  await writer.bus.publish([eventOf("p_undone", "before")]);
  await came.until(1);
  await undone.rollBack();
  await writer.bus.publish([eventOf("p_undone", "after")]);
  expect(await came.until(2)).toEqual(["before", "after"]);
});

test("[BUS-12] a backlog of several pages with open transactions inside is read once each", async () => {
  const [writer, one, other] = [harness.start(), harness.start(), harness.start()];
  const came = createCollector<string>();
  const publish = (from: number, count: number) =>
    writer.bus.publish(Array.from({ length: count }, (_, n) => eventOf("p_pages", String(from + n))));
  await publish(0, 400);
  const open = await begin(writer);
  await appendMessages(open.tx, [eventOf("p_pages", "open")]);
  await publish(400, 800);
  const another = await begin(writer);
  await appendMessages(another.tx, [eventOf("p_pages", "another")]);
  await publish(1200, 400);
  const options = { durable: "pages", pattern: patternOf("p_pages"), category: "evt", deliver: "all" } as const;
  const busy = { ...options, batch: 100, maxInFlight: 100 };
  await one.bus.consume(busy, ({ payload }) => came.push(payload));
  await other.bus.consume(busy, ({ payload }) => came.push(payload));
  await came.until(1600);
  await another.commit();
  await came.until(1601);
  await open.commit();
  await came.until(1602);
  expect(new Set(came.items).size).toBe(1602);
});

test("[BUS-5] [BUS-12] [ARCH-6-22] however transactions overlap, two processes of one durable read each committed event once", async () => {
  const [writer, one, other, alone] = [harness.start(), harness.start(), harness.start(), harness.start()];
  let run = 0;
  const step = fc.record({ slot: fc.nat(2), end: fc.constantFrom("commit", "rollBack", "stay"), direct: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const project = `p_mix_${run++}`;
      const shared = createCollector<string>();
      const single = createCollector<string>();
      const handler = ({ payload }: Delivery) => shared.push(payload);
      const options = { durable: `shared_${run}`, pattern: patternOf(project), category: "evt", batch: 3 } as const;
      const consumers = await Promise.all([
        one.bus.consume(options, handler),
        other.bus.consume(options, handler),
        alone.bus.consume({ ...options, durable: `single_${run}` }, ({ payload }) => single.push(payload)),
      ]);
      const open = new Map<number, { readonly transaction: OpenTransaction; readonly written: string[] }>();
      const expected: string[] = [];
      const finish = async (slot: number, end: "commit" | "rollBack"): Promise<void> => {
        const entry = open.get(slot);
        if (entry === undefined) return;
        open.delete(slot);
        if (end === "commit") expected.push(...entry.written);
        await entry.transaction[end]();
      };
      for (const [n, { slot, end, direct }] of steps.entries()) {
        if (direct) {
          await writer.bus.publish([eventOf(project, `direct ${n}`)]);
          expected.push(`direct ${n}`);
        }
        const entry = open.get(slot) ?? { transaction: await begin(writer), written: [] };
        open.set(slot, entry);
        await appendMessages(entry.transaction.tx, [eventOf(project, `slot ${n}`)]);
        entry.written.push(`slot ${n}`);
        if (end !== "stay") await finish(slot, end);
      }
      for (const slot of [...open.keys()]) await finish(slot, "commit");
      await writer.bus.publish([eventOf(project, "end")]);
      expected.push("end");
      await Promise.all([shared.until(expected.length), single.until(expected.length)]);
      await Promise.all(consumers.map((consumer) => consumer.stop()));
      expect([...shared.items].sort()).toEqual(expected.sort());
      expect([...single.items].sort()).toEqual(expected);
    }),
    { numRuns: 25 },
  );
});
