// Events of transactions that end in another order than they began. A reader of the log skips nothing and reads nothing
// twice, and what is rolled back was never there (I3).

import { createEventLog } from "@toolplane/engine/internal";
import { appendMessages, eventually } from "@toolplane/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OpenTransaction, openTransaction } from "./open-transaction.ts";
import { openPostgresHarness, type PostgresHarness, type PostgresProcess } from "./postgres-harness.ts";

let harness: PostgresHarness;
beforeAll(async () => {
  harness = await openPostgresHarness();
});
afterAll(async () => {
  // A test that failed leaves its transactions open, and a pool closes when they have ended.
  for (const transaction of begun) await transaction.rollBack();
  await harness.close();
});

const eventOf = (project: string, payload: string) => ({
  subject: `cg.v1r4.${project}.public.evt.agent.a1.task`,
  headers: {},
  payload,
});

const begun: OpenTransaction[] = [];

const begin = async ({ db, doorbell }: PostgresProcess): Promise<OpenTransaction> => {
  const transaction = await openTransaction(db);
  begun.push(transaction);
  const commit = async (): Promise<void> => {
    await transaction.commit();
    doorbell.ring("messages");
  };
  return { ...transaction, commit };
};

/** Reads on from a position, until as many as wanted have come. */
const createReader = (project: string) => {
  const log = createEventLog(harness.db);
  const seen: string[] = [];
  let position = "0-0";
  const read = async (): Promise<readonly string[]> => {
    const page = await log.read(project, position, 7);
    position = page.at(-1)?.position ?? position;
    seen.push(...page.map(({ payload }) => payload));
    return seen;
  };
  return { seen, read, until: (count: number) => eventually(async () => (await read()).length >= count) };
};

test("[ARCH-6-22] [ARCH-6-23] a reader is not passed by an event that was written first and committed last, and what is rolled back never leaves", async () => {
  const writer = harness.start();
  const reader = createReader("p_late");
  const [early, undone] = [await begin(writer), await begin(writer)];
  await appendMessages(early.tx, [eventOf("p_late", "first")]);
  await appendMessages(undone.tx, [eventOf("p_late", "never")]);
  await writer.bus.publish([eventOf("p_late", "second")]);
  // The reader waits for no open transaction, and its position says which ones it has to come back for.
  expect(await reader.read()).toEqual(["second"]);
  await undone.rollBack();
  await early.commit();
  await reader.until(2);
  expect(reader.seen).toEqual(["second", "first"]);
  expect(await reader.read()).toHaveLength(2);
});

interface Written {
  readonly payload: string;
  /** What the writer could know: committed before, or written before by the same transaction. */
  readonly after: readonly string[];
}

test("[ARCH-6-22] however transactions overlap, every reader reads each committed event once, and after what was committed before it was written", async () => {
  const writer = harness.start();
  let run = 0;
  const step = fc.record({ slot: fc.nat(2), end: fc.constantFrom("commit", "rollBack", "stay"), direct: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const project = `p_mix_${run++}`;
      const eager = createReader(project);
      const open = new Map<number, { readonly transaction: OpenTransaction; readonly written: Written[] }>();
      const committed: Written[] = [];
      const known = (own: readonly Written[]) => [...committed, ...own].map(({ payload }) => payload);
      const finish = async (slot: number, end: "commit" | "rollBack"): Promise<void> => {
        const entry = open.get(slot);
        if (entry === undefined) return;
        open.delete(slot);
        if (end === "commit") committed.push(...entry.written);
        await entry.transaction[end]();
      };
      for (const [n, { slot, end, direct }] of steps.entries()) {
        if (direct) {
          const event = { payload: `direct ${n}`, after: known([]) };
          await writer.bus.publish([eventOf(project, event.payload)]);
          committed.push(event);
        }
        const entry = open.get(slot) ?? { transaction: await begin(writer), written: [] };
        open.set(slot, entry);
        const event = { payload: `slot ${n}`, after: known(entry.written) };
        await appendMessages(entry.transaction.tx, [eventOf(project, event.payload)]);
        entry.written.push(event);
        if (end !== "stay") await finish(slot, end);
        await eager.read();
      }
      for (const slot of [...open.keys()]) await finish(slot, "commit");
      const late = createReader(project);
      for (const reader of [eager, late]) {
        await reader.until(committed.length);
        await reader.read();
        expect([...reader.seen].sort()).toEqual(known([]).sort());
        for (const { payload, after } of committed)
          expect(reader.seen.slice(0, reader.seen.indexOf(payload))).toEqual(expect.arrayContaining([...after]));
      }
    }),
    { numRuns: 25 },
  );
});
