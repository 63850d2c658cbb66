// Readers of the event log that keep nothing but a position. Whatever transactions are open, an event that is committed is read at
// once, every event is read once, and what happened after another thing was committed is read after it.

import { createEventLog } from "@toolplane/engine/internal";
import { appendMessages } from "@toolplane/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OpenTransaction, openTransaction } from "./open-transaction.ts";
import { openPostgresHarness, type PostgresHarness } from "./postgres-harness.ts";

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

const publish = (project: string, ...payloads: readonly string[]): Promise<unknown> =>
  harness.db.transaction((tx) =>
    appendMessages(
      tx,
      payloads.map((payload) => eventOf(project, payload)),
    ),
  );

/** Reads on from where it was, page after page, with nothing but the text of its position. */
const openReader = async (project: string, limit = 200, from?: string) => {
  const log = createEventLog(harness.db);
  let position = from ?? (await log.now(project));
  const seen: string[] = [];
  return {
    seen,
    position: () => position,
    async read() {
      for (;;) {
        const page = await log.read(project, position, limit);
        if (page.length === 0) return seen;
        seen.push(...page.map(({ payload }) => payload));
        position = page.at(-1)?.position ?? position;
      }
    },
  };
};

test("[ARCH-6-E1] a transaction that stays open elsewhere in the database holds no reader of events up", async () => {
  const elsewhere = await openTransaction(harness.db);
  const reader = await openReader("p_elsewhere");
  await publish("p_elsewhere", "one");
  expect(await reader.read()).toEqual(["one"]);
  await publish("p_elsewhere", "two");
  expect(await reader.read()).toEqual(["one", "two"]);
  expect(await (await openReader("p_elsewhere", 200, "0")).read()).toEqual(["one", "two"]);
  await elsewhere.commit();
  expect(await reader.read()).toEqual(["one", "two"]);
});

test("[ARCH-6-E1] an event that is committed late is read late, once, also by a reader that comes back with its position", async () => {
  const late = await openTransaction(harness.db);
  await appendMessages(late.tx, [eventOf("p_back", "late 1"), eventOf("p_back", "late 2")]);
  const reader = await openReader("p_back", 1, "0");
  await publish("p_back", "early");
  expect(await reader.read()).toEqual(["early"]);
  await late.commit();
  const log = createEventLog(harness.db);
  const [first] = await log.read("p_back", reader.position(), 1);
  expect(first?.payload).toBe("late 1");
  expect(await (await openReader("p_back", 1, first?.position)).read()).toEqual(["late 2"]);
  expect(await reader.read()).toEqual(["early", "late 1", "late 2"]);
});

test("[ARCH-6-E2] a position of an earlier version goes on with what that version had not shown", async () => {
  const late = await openTransaction(harness.db);
  const [open] = await late.tx.query<{ xid: string }>({
    name: "test.own-xid",
    text: "select pg_current_xact_id()::text as xid",
  });
  await publish("p_old", "seen");
  await appendMessages(late.tx, [eventOf("p_old", "unseen of an earlier transaction")]);
  const [row] = await harness.rows("select xid::text, id::text from bus.messages where project_id = 'p_old'");
  await publish("p_old", "unseen 1");
  const before = BigInt(open?.xid ?? "");
  // The log was shown up to the oldest open transaction: nothing of it was.
  expect(await (await openReader("p_old", 200, `${before}-0`)).read()).toEqual(["seen", "unseen 1"]);
  await late.commit();
  const after = await openReader("p_old", 1, `${row?.xid}-${row?.id}`);
  expect(await after.read()).toEqual(["unseen 1"]);
  const all = await openReader("p_old", 1, `${before - 1n}-0`);
  expect([...(await all.read())].sort()).toEqual(["seen", "unseen 1", "unseen of an earlier transaction"]);
});

test("[ARCH-6-E1] however transactions overlap, each event is read once, and after what was committed before it was written", async () => {
  let run = 0;
  const step = fc.record({ slot: fc.nat(2), act: fc.constantFrom("write", "write", "commit", "direct", "read") });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 25 }),
      fc.constantFrom(1, 2, 200),
      async (steps, limit) => {
        const project = `p_overlap_${run++}`;
        const reader = await openReader(project, limit);
        const written: { readonly name: string; readonly at: number; committedAt: number }[] = [];
        const slots = new Map<number, { readonly open: OpenTransaction; readonly mine: typeof written }>();
        let clock = 0;
        const commit = async (slot: number): Promise<void> => {
          await slots.get(slot)?.open.commit();
          for (const event of slots.get(slot)?.mine ?? []) event.committedAt = clock++;
          slots.delete(slot);
        };
        for (const { slot, act } of steps) {
          const event = { name: `${written.length}`, at: clock++, committedAt: 0 };
          if (act === "read") await reader.read();
          else if (act === "commit") await commit(slot);
          else if (act === "direct") {
            await publish(project, event.name);
            event.committedAt = clock++;
            written.push(event);
          } else {
            const open = slots.get(slot) ?? { open: await openTransaction(harness.db), mine: [] };
            slots.set(slot, open);
            await appendMessages(open.open.tx, [eventOf(project, event.name)]);
            open.mine.push(event);
            written.push(event);
          }
        }
        for (const slot of [...slots.keys()]) {
          await reader.read();
          await commit(slot);
        }
        const seen = await reader.read();
        expect([...seen].sort()).toEqual(written.map(({ name }) => name).sort());
        const placeOf = new Map(seen.map((name, place) => [name, place]));
        for (const cause of written)
          for (const effect of written)
            if (cause.committedAt < effect.at)
              expect(placeOf.get(cause.name)).toBeLessThan(placeOf.get(effect.name) ?? -1);
      },
    ),
    { numRuns: 40 },
  );
});
