import { ToolplaneError } from "@toolplane/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createCoalescer } from "./coalescer.ts";

const boom = (): ToolplaneError => new ToolplaneError("internal_error", "boom");

test("[ARCH-5-E5] however items arrive and flights end, everybody is answered once, in order per key, within the caps", async () => {
  const item = fc.record({
    key: fc.constantFrom("a", "b", "c"),
    bytes: fc.integer({ min: 0, max: 5 }),
    bad: fc.boolean(),
  });
  const options = fc.record({
    maxItems: fc.integer({ min: 1, max: 4 }),
    maxBytes: fc.integer({ min: 1, max: 8 }),
    inFlight: fc.integer({ min: 1, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(item, { maxLength: 6 }), { maxLength: 8 }),
      options,
      fc.scheduler(),
      async (bursts, caps, scheduler) => {
        type Item = { readonly key: string; readonly bytes: number; readonly bad: boolean; readonly n: number };
        let out = 0;
        const answered: Item[] = [];
        const coalescer = createCoalescer<Item, number>({
          ...caps,
          keyOf: ({ key }) => key,
          groupOf: ({ key }) => (key === "a" ? "one" : "other"),
          bytesOf: ({ bytes }) => bytes,
          flush: async (items) => {
            out++;
            expect(out).toBeLessThanOrEqual(caps.inFlight);
            expect(items.length).toBeLessThanOrEqual(caps.maxItems);
            if (items.length > 1)
              expect(items.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(caps.maxBytes);
            expect(new Set(items.map(({ key }) => key)).size).toBe(items.length);
            await scheduler.schedule(Promise.resolve());
            out--;
            if (items.some(({ bad }) => bad)) throw boom();
            return items.map(({ n }) => n);
          },
        });
        let n = 0;
        const submit = async (numbered: Item): Promise<void> => {
          const outcome = await coalescer.submit(numbered).catch(() => "refused");
          expect(outcome).toBe(numbered.bad ? "refused" : numbered.n);
          answered.push(numbered);
        };
        const drive = async (): Promise<void> => {
          const answers: Promise<void>[] = [];
          for (const burst of bursts) {
            for (const entry of burst) answers.push(submit({ ...entry, n: n++ }));
            await scheduler.schedule(Promise.resolve());
          }
          await Promise.all(answers);
          await coalescer.idle();
        };
        await scheduler.waitFor(drive());
        expect(answered).toHaveLength(n);
        for (const key of ["a", "b", "c"]) {
          const order = answered.filter((entry) => entry.key === key).map((entry) => entry.n);
          expect(order).toEqual([...order].sort((x, y) => x - y));
        }
        expect(coalescer.stats()).toMatchObject({ waiting: 0, inFlight: 0, items: n });
      },
    ),
    { numRuns: 200 },
  );
});

test("[ENG-line-turns] however items arrive, no group has two sent while another one's waits, and each group keeps its order", async () => {
  const options = fc.record({
    maxItems: fc.integer({ min: 1, max: 5 }),
    maxBytes: fc.integer({ min: 1, max: 8 }),
    inFlight: fc.integer({ min: 1, max: 3 }),
  });
  const item = fc.record({ group: fc.constantFrom("a", "b", "c"), bytes: fc.integer({ min: 0, max: 5 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(item, { maxLength: 12 }), { maxLength: 6 }),
      options,
      fc.scheduler(),
      async (bursts, caps, scheduler) => {
        type Item = { readonly group: string; readonly bytes: number; readonly n: number; readonly after: number };
        const sent: Item[] = [];
        const coalescer = createCoalescer<Item, number>({
          ...caps,
          groupOf: ({ group }) => group,
          bytesOf: ({ bytes }) => bytes,
          flush: async (items) => {
            sent.push(...items);
            await scheduler.schedule(Promise.resolve());
            return items.map(({ n }) => n);
          },
        });
        let n = 0;
        const drive = async (): Promise<void> => {
          const answers: Promise<number>[] = [];
          for (const burst of bursts) {
            for (const entry of burst) answers.push(coalescer.submit({ ...entry, n: n++, after: sent.length }));
            await scheduler.schedule(Promise.resolve());
          }
          expect(await Promise.all(answers)).toEqual(answers.map((_, index) => index));
          await coalescer.idle();
        };
        await scheduler.waitFor(drive());
        for (const [place, { group, n: number }] of sent.entries()) {
          const next = sent.findIndex((later, at) => at > place && later.group === group);
          if (next < 0) continue;
          expect(sent[next]?.n).toBeGreaterThan(number);
          const between = new Set(sent.slice(place + 1, next).map((one) => one.group));
          const passedOver = sent.filter((one, at) => at > next && one.after <= place && !between.has(one.group));
          expect(passedOver.filter((one) => one.group !== group)).toEqual([]);
        }
        expect(coalescer.stats()).toMatchObject({ waiting: 0, inFlight: 0, items: n });
      },
    ),
    { numRuns: 300 },
  );
});
