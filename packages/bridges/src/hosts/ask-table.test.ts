import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AskTable, type Tabled } from "./ask-table.ts";

/** Few ids, so that many share a row and some come again. */
const steps = fc.array(
  fc.record({ add: fc.boolean(), id: fc.constantFrom("a", "b", "ab", "ba", "aab", "bbb", "\u00e9") }),
);

describe("AskTable", () => {
  test("[SEC-9-2] holds what a Map holds, in the same order", () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const table = new AskTable<Tabled>();
        const model = new Map<string, Tabled>();
        for (const { add, id } of taken) {
          const known = model.get(id);
          if (known !== undefined) {
            expect([table.remove(known), table.remove(known)]).toEqual([true, false]);
            model.delete(id);
          } else if (add) {
            const item = { id, order: 0 };
            table.add(item);
            model.set(id, item);
          }
          expect(table.get(id)).toBe(model.get(id));
          expect([table.size, table.list()]).toEqual([model.size, [...model.values()]]);
        }
      }),
    );
  });

  test("an item that is not there is not removed, whatever its id", () => {
    const table = new AskTable<Tabled>();
    table.add({ id: "a", order: 0 });
    expect([table.remove({ id: "a", order: 0 }), table.size, table.get("")]).toEqual([false, 1, undefined]);
  });
});
