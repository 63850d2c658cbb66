import { createTestDatabase, ENGINE_TEMPLATE, type TestDatabase } from "@toolplane/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adHoc } from "../../test/registry-world.ts";
import { type ArrayType, encodeArrays } from "./binary-array.ts";
import { createDatabase, type Database } from "./database.ts";
import { setInput } from "./input.sql.ts";

let server: TestDatabase;
let db: Database;

beforeAll(async () => {
  server = await createTestDatabase(ENGINE_TEMPLATE);
  db = createDatabase({ connection: { connectionString: server.url }, maxConnections: 1 });
});
afterAll(async () => {
  await db.close();
  await server.drop();
});

interface Row {
  readonly aText: string | null;
  readonly aFlag: boolean | null;
  readonly anInteger: number | null;
  readonly aBigint: number | string | null;
  readonly aDouble: number | null;
}

const input = setInput<Row>([
  ["aText", "text"],
  ["aFlag", "boolean"],
  ["anInteger", "integer"],
  ["aBigint", "bigint"],
  ["aDouble", "double precision"],
]);

const ECHO = adHoc(
  `select a_text, a_flag, an_integer, a_bigint::text as a_bigint, a_double, ord::int as ord from ${input.from} order by ord`,
);

const echo = (rows: readonly Row[]) => db.query(ECHO, input.bind(rows));

const echoed = (rows: readonly Row[]) =>
  rows.map((row, index) => ({
    a_text: row.aText,
    a_flag: row.aFlag,
    an_integer: row.anInteger,
    a_bigint: row.aBigint === null ? null : String(row.aBigint),
    a_double: row.aDouble,
    ord: index + 1,
  }));

const anyText = fc.string({ unit: "binary", maxLength: 300 }).filter((text) => !text.includes("\u0000"));
const anyRow: fc.Arbitrary<Row> = fc.record({
  aText: fc.option(fc.oneof(anyText, fc.constantFrom("", "NULL", '"\\{}', "é€😀", "a\nb"))),
  aFlag: fc.option(fc.boolean()),
  anInteger: fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  aBigint: fc.option(
    fc.oneof(fc.maxSafeInteger(), fc.constantFrom("9223372036854775807", "-9223372036854775808", "0")),
  ),
  aDouble: fc.option(fc.double({ noNaN: true }).map((value) => (Object.is(value, -0) ? 0 : value))),
});

describe("arrays in binary form", () => {
  test("the server reads exactly what was bound, whatever it is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { maxLength: 20 }), async (rows) => {
        expect(await echo(rows)).toEqual(echoed(rows));
      }),
      { numRuns: 100 },
    );
  });

  test("rows that outgrow the room that was guessed are sent whole", async () => {
    const row = { aText: "x", aFlag: null, anInteger: 1, aBigint: 1, aDouble: 0.5 };
    await echo([row]);
    const large = [row, { ...row, aText: "€".repeat(100_000) }, row];
    expect(await echo(large)).toEqual(echoed(large));
  });

  test("a field that is missing is null", async () => {
    expect(await echo([{} as Row])).toEqual(
      echoed([{ aText: null, aFlag: null, anInteger: null, aBigint: null, aDouble: null }]),
    );
  });

  test("text that the server cannot hold is refused by the server", async () => {
    const row = { aText: "a\u0000b", aFlag: null, anInteger: null, aBigint: null, aDouble: null };
    await expect(echo([row])).rejects.toMatchObject({ code: "bad_request" });
  });

  test.each<[ArrayType, unknown]>([
    ["integer", 1.5],
    ["integer", 2 ** 31],
    ["integer", Number.NaN],
    ["integer", "seven"],
    ["bigint", 0.5],
    ["bigint", "9223372036854775808"],
    ["bigint", "1e3"],
  ])("a value that is not of type %s (%s) is refused, not changed into one", (type, value) => {
    expect(() => encodeArrays([{ type, values: [value] }], 0)).toThrow(
      expect.objectContaining({ code: "internal_error" }),
    );
  });
});
