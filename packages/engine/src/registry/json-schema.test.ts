import { ERROR_CODES, type JsonObject } from "@toolplane/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSchemaCompiler } from "./json-schema.ts";

const compile = createSchemaCompiler();
const issues = (schema: JsonObject, value: unknown) => compile(schema)(value);
const refusal = (schema: JsonObject): string => {
  try {
    compile(schema);
  } catch (error) {
    expect(error).toMatchObject({ code: "bad_request" });
    return (error as Error).message;
  }
  return "accepted";
};

const DRAFT_07 = "http://json-schema.org/draft-07/schema#";
const DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema";

describe("checking values", () => {
  const schema: JsonObject = {
    type: "object",
    properties: {
      name: { type: "string", minLength: 2 },
      kind: { enum: ["a", "b"] },
      sizes: { type: "array", items: { type: "integer", minimum: 0 }, uniqueItems: true },
    },
    required: ["name"],
    additionalProperties: false,
  };

  test.each<[string, unknown, string | undefined, string | undefined]>([
    ["a good value", { name: "ab", kind: "a", sizes: [1, 2] }, undefined, undefined],
    ["a missing member", {}, "$.name", "is missing"],
    ["a wrong type", { name: 3 }, "$.name", "must be a string"],
    ["a place in a list", { name: "ab", sizes: [1, -1] }, "$.sizes[1]", "must be at least 0"],
    ["an unknown member", { name: "ab", "odd key": 1 }, '$["odd key"]', "is not a known member"],
    ["a value outside an enum", { name: "ab", kind: "z" }, "$.kind", 'must be one of "a", "b"'],
    ["a duplicate", { name: "ab", sizes: [1, 1] }, "$.sizes", "must not have the same item twice"],
  ])("%s", (_title, value, path, message) => {
    expect(issues(schema, value)).toEqual(path === undefined ? [] : [{ path, message }]);
  });

  test.each<[JsonObject, unknown, string]>([
    [{ type: ["string", "null"] }, 1, "must be a string or null"],
    [{ type: "integer" }, 1.5, "must be a whole number"],
    [{ type: "boolean" }, "yes", "must be true or false"],
    [{ type: "array" }, {}, "must be a list"],
    [{ type: "object" }, [], "must be an object"],
    [{ minLength: 2 }, "a", "must have at least 2 characters"],
    [{ maxLength: 1 }, "ab", "must have at most 1 character"],
    [{ minItems: 1 }, [], "must have at least 1 item"],
    [{ maxItems: 8 }, [1, 2, 3, 4, 5, 6, 7, 8, 9], "must have at most 8 items"],
    [{ minProperties: 1 }, {}, "must have at least 1 member"],
    [{ maximum: 5 }, 6, "must be at most 5"],
    [{ exclusiveMinimum: 0 }, 0, "must be greater than 0"],
    [{ exclusiveMaximum: 9 }, 9, "must be less than 9"],
    [{ multipleOf: 3 }, 4, "must be a multiple of 3"],
    [{ const: "y" }, "z", 'must be "y"'],
    [{ pattern: "^x$" }, "y", 'must match the pattern "^x$"'],
    [{ enum: [1, null, "a"] }, 2, 'must be one of 1, null, "a"'],
    [{ enum: ["a".repeat(300)] }, 2, "must be one of the allowed values"],
  ])("says in a sentence what %j wants", (schema_, value, message) => {
    expect(issues(schema_, value)).toEqual([{ path: "$", message }]);
  });

  test("[SEC-7-E1] an issue never quotes the checked value", () => {
    const secret = "sk-live-0123456789";
    const strict: JsonObject = {
      properties: {
        a: { type: "number" },
        b: { pattern: "^x$" },
        c: { const: "y" },
        d: { enum: ["q"] },
        e: { maxLength: 3 },
        f: { not: {} },
        g: { anyOf: [{ type: "number" }, { minLength: 100 }] },
        h: { format: "email", minLength: 50 },
        i: false,
      },
    };
    for (const key of "abcdefghi") {
      const found = issues(strict, { [key]: secret });
      expect(found).not.toEqual([]);
      expect(JSON.stringify(found)).not.toContain(secret);
    }
  });

  test.each([
    [{ required: ["toString"] }, {}],
    [{ required: ["constructor"] }, {}],
    [{ properties: { constructor: { type: "string" } }, required: ["constructor"] }, {}],
  ])("[SEC-4-E5] inherited members do not count: %j", (inherited, value) => {
    expect(issues(inherited as JsonObject, value)).toHaveLength(1);
    expect(issues({ properties: { constructor: { type: "string" } } }, {})).toEqual([]);
  });

  test("checking changes nothing and converts nothing", () => {
    const value = Object.freeze({ n: "1" });
    const filling: JsonObject = { properties: { n: { type: "number" }, d: { default: 5 } } };
    expect(issues(filling, value)).toHaveLength(1);
    expect(issues({ properties: { d: { default: 5 } } }, value)).toEqual([]);
    expect(value).toEqual({ n: "1" });
  });

  test("numbers a JSON text cannot say are not numbers, and 19.99 is a multiple of 0.01", () => {
    expect(issues({ type: "number" }, Number.NaN)).toHaveLength(1);
    expect(issues({ type: "number", multipleOf: 0.01 }, 19.99)).toEqual([]);
    expect(issues({ type: "number", multipleOf: 0.01 }, 19.999)).toHaveLength(1);
  });

  test("format is an annotation, and so is a keyword nobody knows", () => {
    expect(issues({ type: "string", format: "email", "x-shown": true }, "not an address")).toEqual([]);
  });

  test("uniqueItems compares values, not spellings, in linear time", () => {
    const unique: JsonObject = { type: "array", uniqueItems: true, items: {} };
    expect(
      issues(unique, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toHaveLength(1);
    expect(issues(unique, [1, "1", true, "true", null, "null", [], {}, [1], ["1"]])).toEqual([]);
    const many = Array.from({ length: 50_000 }, (_, i) => ({ i }));
    expect(issues(unique, many)).toEqual([]);
  });

  test("two patterns in one schema are two patterns", () => {
    const two: JsonObject = { properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } } };
    expect(issues(two, { a: "a", b: "b" })).toEqual([]);
    expect(issues(two, { a: "a", b: "a" })).toHaveLength(1);
    expect(issues({ patternProperties: { "^x-": { type: "number" } } }, { "x-a": "no" })).toHaveLength(1);
  });
});

describe("dialects", () => {
  test("[UTP-5.2-E1] 2020-12 is the default, draft-07 when declared; each has its own tuples", () => {
    const tuple = [{ type: "string" }, { type: "number" }];
    expect(issues({ prefixItems: tuple }, ["a", "b"])).toHaveLength(1);
    expect(issues({ $schema: DRAFT_2020, prefixItems: tuple }, ["a", "b"])).toHaveLength(1);
    expect(issues({ $schema: DRAFT_07, items: tuple }, ["a", "b"])).toHaveLength(1);
    expect(refusal({ items: tuple })).toContain("$.items");
  });

  test("[UTP-5.2-E1] another dialect is refused by name", () => {
    for (const $schema of ["http://json-schema.org/draft-04/schema#", "https://example.com/mine", 7])
      expect(refusal({ $schema })).toContain("$schema");
  });
});

describe("schemas that are refused", () => {
  test.each<[string, JsonObject, string]>([
    ["a misspelt type", { type: "strnig" }, "$.type"],
    ["a misspelt type deep inside", { properties: { a: { items: { type: "strnig" } } } }, "$.properties.a.items.type"],
    ["required that is not a list", { required: "a" }, "$.required"],
    ["a negative length", { minLength: -1 }, "$.minLength"],
    ["a reference to nowhere", { $ref: "#/$defs/nobody" }, "nobody"],
    ["[SEC-10-E3] a reference to another document", { $ref: "https://example.com/schema.json" }, "example.com"],
    ["[SEC-10-E3] a reference to a file", { properties: { a: { $ref: "file:///etc/passwd" } } }, "passwd"],
    ["[SEC-10-E3] a reference to the dialect itself", { $ref: DRAFT_2020 }, "resolve"],
    [
      "[SEC-10-E1] a pattern with look-ahead, named by its place",
      { properties: { a: { pattern: "(?=x)" } } },
      "$.properties.a.pattern",
    ],
    ["[SEC-10-E1] the same as a member's name", { patternProperties: { "(a)\\1": {} } }, "$.patternProperties"],
    ["an asynchronous schema", { $async: true }, "$async"],
    ["an asynchronous schema inside", { properties: { a: { $async: true } } }, "$.properties.a"],
    ["[SEC-10-E4] a schema over the size cap", { description: "x".repeat(300_000) }, "bytes"],
    ["[SEC-10-E4] a schema with too many schemas", { anyOf: Array.from({ length: 1_001 }, () => ({})) }, "1000"],
  ])("%s", (_title, schema, named) => {
    expect(refusal(schema)).toContain(named);
  });

  test("a pattern in an annotation is nobody's business", () => {
    expect(issues({ "x-hint": { pattern: "(?=x)" }, examples: [{ pattern: "(" }] }, {})).toEqual([]);
  });

  test("data that looks like a reference is data", () => {
    expect(issues({ const: { $ref: "#/nowhere" } }, { $ref: "#/nowhere" })).toEqual([]);
  });
});

describe("work is bounded", () => {
  const tree = (levels: number): unknown => (levels === 0 ? {} : { child: tree(levels - 1) });
  const doubling: JsonObject = {
    $defs: { node: { properties: { child: { allOf: [{ $ref: "#/$defs/node" }, { $ref: "#/$defs/node" }] } } } },
    $ref: "#/$defs/node",
  };

  test("[SEC-10-E5] a schema that doubles the work per level is cut off with an issue", () => {
    expect(issues(doubling, tree(8))).toEqual([]);
    expect(issues(doubling, tree(60))).toEqual([{ path: "$", message: expect.stringContaining("too many steps") }]);
  });

  test("[SEC-10-E5] references that fan out without recursion are counted too", () => {
    const $defs: Record<string, JsonObject> = { d0: { type: "object" } };
    for (let i = 1; i <= 40; i++) {
      const below = { $ref: `#/$defs/d${i - 1}` };
      $defs[`d${i}`] = { allOf: [below, below] };
    }
    expect(issues({ $defs, $ref: "#/$defs/d40" }, {})).toHaveLength(1);
  });

  test("[SEC-10-E5] a schema that is itself ends", () => {
    expect(issues({ $ref: "#" }, {})).toHaveLength(1);
    expect(
      issues({ $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }, 1),
    ).toHaveLength(1);
    expect(issues({ allOf: [{ $dynamicRef: "#" }] }, 1)).toHaveLength(1);
  });

  test("ordinary recursion works", () => {
    const list: JsonObject = {
      properties: { next: { $ref: "#" }, n: { type: "number" } },
      additionalProperties: false,
    };
    const chain = (n: number): unknown => (n === 0 ? { n: 0 } : { n, next: chain(n - 1) });
    expect(issues(list, chain(50))).toEqual([]);
    expect(issues(list, { next: { next: { n: "x" } } })).toEqual([
      { path: "$.next.next.n", message: "must be a number" },
    ]);
  });

  test("a check that was cut off does not shorten the next one", () => {
    const check = compile(doubling);
    expect(check(tree(60))).toHaveLength(1);
    expect(check(tree(8))).toEqual([]);
  });

  test("one schema's identifier does not get in the way of another's", () => {
    const named = (type: string): JsonObject => ({ $id: "https://example.com/x", type });
    expect(issues(named("string"), "a")).toEqual([]);
    expect(issues(named("number"), "a")).toHaveLength(1);
  });
});

test("whatever the schema, compiling gives a check or a typed refusal, and checking a list of issues", () => {
  const leaf = fc.oneof(
    fc.constantFrom("string", "object", "#", "#/$defs/a", "(?=x)", "^a+$"),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
  );
  const keyword = fc.constantFrom(
    ...["type", "properties", "items", "$ref", "pattern", "allOf", "anyOf", "not", "required", "enum", "$defs", "$id"],
    ...["$schema", "if", "minimum", "additionalProperties", "patternProperties", "uniqueItems", "nullable", "format"],
  );
  const { schema } = fc.letrec<{ schema: JsonObject; value: unknown }>((tie) => ({
    schema: fc.dictionary(keyword, tie("value"), { maxKeys: 4 }) as fc.Arbitrary<JsonObject>,
    value: fc.oneof({ depthSize: "small" }, leaf, tie("schema"), fc.array(tie("value"), { maxLength: 3 })),
  }));
  fc.assert(
    fc.property(schema, fc.jsonValue(), (candidate, value) => {
      try {
        expect(Array.isArray(compile(candidate)(value))).toBe(true);
      } catch (error) {
        expect(ERROR_CODES).toContain((error as { code?: string }).code);
      }
    }),
    { numRuns: 400 },
  );
});
