import { createSchemaCompiler } from "@toolplane/engine";
import type { JsonObject } from "@toolplane/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseArguments, sampleArguments } from "./sample-arguments.ts";

const object = (properties: JsonObject, required: readonly string[] = Object.keys(properties)): JsonObject => ({
  type: "object",
  properties,
  required: [...required],
});

describe("arguments from a schema", () => {
  test.each<[string, JsonObject, JsonObject, JsonObject | undefined]>([
    ["no parameters", {}, {}, undefined],
    ["a text", object({ text: { type: "string" } }), { text: "one" }, { text: "two words" }],
    [
      "a text of a length",
      object({ id: { type: "string", minLength: 5, maxLength: 6 } }),
      { id: "oneoo" },
      { id: "two wo" },
    ],
    ["a number", object({ n: { type: "integer" } }), { n: 1 }, { n: 2 }],
    ["a number with bounds", object({ n: { type: "number", minimum: 10, maximum: 20 } }), { n: 10 }, { n: 11 }],
    ["a choice", object({ mode: { enum: ["map", "reduce"] } }), { mode: "map" }, { mode: "reduce" }],
    ["examples come first", object({ city: { type: "string", examples: ["Bern"] } }), { city: "Bern" }, undefined],
    ["a constant", object({ v: { const: 7 } }), { v: 7 }, undefined],
    ["a list", object({ l: { type: "array", items: { type: "boolean" } } }), { l: [true] }, { l: [false] }],
    ["a nullable text", object({ t: { type: ["null", "string"] } }), { t: "one" }, { t: "two words" }],
    ["one of several", object({ t: { anyOf: [{ type: "integer" }, { type: "null" }] } }), { t: 1 }, { t: 2 }],
    ["optional ones are left out", object({ a: { type: "string" }, b: {} }, ["a"]), { a: "one" }, { a: "two words" }],
    ["the first of only optional ones", object({ a: { type: "integer" }, b: {} }, []), { a: 1 }, { a: 2 }],
  ])("%s", (_name, schema, first, second) => {
    expect(sampleArguments(schema)).toEqual({ first, second });
  });

  const leaf = fc.oneof(
    fc.record({ type: fc.constant("string"), minLength: fc.nat(12) }),
    fc.record({ type: fc.constantFrom("integer", "number"), minimum: fc.integer({ min: -50, max: 50 }) }),
    fc.record({ type: fc.constant("boolean") }),
    fc.record({ enum: fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 4 }) }),
  );
  const name = fc.stringMatching(/^[a-z]{1,8}$/);
  const schemas = fc.letrec<{ value: unknown; object: JsonObject }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      leaf,
      tie("object"),
      fc.record({ type: fc.constant("array"), items: leaf }),
    ),
    object: fc
      .dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true })
      .map((properties) => object(properties as JsonObject)),
  })).object;

  test("[API-conform-samples] they are valid under it, and the second set differs or is not there", () => {
    const compile = createSchemaCompiler();
    fc.assert(
      fc.property(schemas, (schema) => {
        const { first, second } = sampleArguments(schema);
        const validate = compile(schema);
        expect(validate(first)).toEqual([]);
        if (second === undefined) return;
        expect(validate(second)).toEqual([]);
        expect(second).not.toEqual(first);
      }),
      { numRuns: 200 },
    );
  });

  test("a schema that contains itself ends", () => {
    const node: Record<string, unknown> = { type: "object", required: ["next"] };
    node.properties = { next: node };
    expect(JSON.stringify(sampleArguments(node as JsonObject).first).length).toBeLessThan(200);
  });
});

describe("arguments that were given", () => {
  test.each<[string, JsonObject, JsonObject | undefined]>([
    ['{"text": "a"}', { text: "a" }, { text: "a two words" }],
    ['{"n": 1, "text": "a"}', { n: 1, text: "a" }, { n: 2, text: "a" }],
    ['{"on": true}', { on: true }, { on: false }],
    ['{"list": [null, {"deep": 1}]}', { list: [null, { deep: 1 }] }, { list: [null, { deep: 2 }] }],
    ["{}", {}, undefined],
    ['{"nothing": null}', { nothing: null }, undefined],
    ['[{"a": 1}, {"b": 2}]', { a: 1 }, { b: 2 }],
    ['[{"a": 1}, {"a": 1}]', { a: 1 }, undefined],
    ['[{"a": 1}]', { a: 1 }, { a: 2 }],
  ])("%s", (text, first, second) => {
    expect(parseArguments(text)).toEqual({ first, second });
  });

  test.each(["", "{", "7", '"text"', "null", "[]", "[1]", "[{}, 1]", "[{}, {}, {}]"])("%j is refused", (text) => {
    expect(() => parseArguments(text)).toThrow("--arguments takes a JSON object");
  });
});
