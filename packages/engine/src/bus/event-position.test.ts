import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { advance, MAX_XID8, type Position, parsePosition, positionText } from "./event-position.ts";

const place = fc.record({ id: fc.bigInt(0n, 2n ** 63n - 1n), part: fc.nat(300) });
const late = fc.uniqueArray(fc.bigInt(1n, 2n ** 40n), { maxLength: 20 }).chain((xids) =>
  fc.tuple(
    ...xids.map((from) =>
      fc.record({
        from: fc.constant(from),
        to: fc.constantFrom(from, from + 5n, MAX_XID8),
        after: fc.option(place, { nil: undefined }),
      }),
    ),
  ),
);

const one = (xid: bigint) => ({ from: xid, to: xid });

describe("positions of the event log", () => {
  test("what is written is read again as it was", () => {
    fc.assert(
      fc.property(place, late, (at, open) => {
        const sorted = [...open].sort((a, b) => (a.from < b.from ? -1 : 1));
        expect(parsePosition(positionText({ ...at, late: open }))).toEqual({ ...at, late: sorted });
      }),
    );
  });

  test("the text is short", () => {
    expect(positionText({ id: 5512n, part: 0, late: [] })).toBe("5512");
    const late = [one(815n), one(812n), { from: 820n, to: 825n }, { from: 830n, to: MAX_XID8 }];
    expect(positionText({ id: 5512n, part: 3, late })).toBe("5512.3~812,+3,+8-5,+18-");
    expect(positionText({ id: 9n, part: 0, late: [{ ...one(812n), after: { id: 4n, part: 2 } }] })).toBe("9~812:4.2");
  });

  test.each([
    "",
    "x",
    "1-",
    "-1",
    "1.",
    "1~",
    "1~+2",
    "1~2,3",
    "1~2,",
    "1~2:x",
    "1~2-x",
    "1~23 4",
    "1.9999999999",
    "9223372036854775808",
    "1~18446744073709551616",
    `1~2${",+1".repeat(3000)}`,
  ])("%s is not a position", (text) => {
    expect(() => parsePosition(text)).toThrow("is not an event id this server has given");
  });

  test("a late event moves only what late transactions wrote, and never back", () => {
    const before: Position = {
      id: 100n,
      part: 0,
      late: [{ ...one(7n), after: { id: 60n, part: 0 } }, one(8n), { from: 9n, to: MAX_XID8 }],
    };
    expect(advance(before, { id: 50n, part: 0 }, { listed: [11n], from: 14n })).toEqual({
      id: 100n,
      part: 0,
      late: [
        { ...one(7n), after: { id: 60n, part: 0 } },
        { ...one(8n), after: { id: 50n, part: 0 } },
        { from: 9n, to: 10n, after: { id: 50n, part: 0 } },
        one(11n),
        { from: 12n, to: 13n, after: { id: 50n, part: 0 } },
        { from: 14n, to: MAX_XID8 },
      ],
    });
    expect(advance(before, { id: 101n, part: 1 }, { listed: [], from: 14n })).toEqual({
      id: 101n,
      part: 1,
      late: [{ from: 14n, to: MAX_XID8 }],
    });
  });
});
