import { describe, expect, test } from "vitest";
import { planForm, readForm, WHOLE } from "./schema-form.ts";

const SCHEMA = {
  type: "object",
  required: ["text", "count"],
  properties: {
    text: { type: "string", description: "What to count" },
    count: { type: "integer", minimum: 1, maximum: 10 },
    ratio: { type: ["number", "null"] },
    loud: { type: "boolean", default: true },
    size: { enum: ["small", 2, null] },
    key: { type: "string", format: "password" },
    more: { type: "array", items: { type: "string" } },
    odd: true,
  },
};

describe("a form from a schema", () => {
  const fields = planForm(SCHEMA);

  test("has a field for each parameter", () => {
    expect(fields.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
      ["text", "text", true],
      ["count", "integer", true],
      ["ratio", "number", false],
      ["loud", "boolean", false],
      ["size", "choice", false],
      ["key", "secret", false],
      ["more", "json", false],
      ["odd", "json", false],
    ]);
    expect(fields[4]?.choices).toEqual(['"small"', "2", "null"]);
    expect(fields[3]?.initial).toBe("true");
  });

  test("gives arguments, and leaves out what was left empty", () => {
    expect(readForm(fields, { text: "a b", count: "3", size: "2", more: '["x"]' })).toEqual({
      json: '{"text":"a b","count":3,"loud":true,"size":2,"more":["x"]}',
      wrong: {},
    });
  });

  test("sends numbers and JSON as they were typed: no digit and no member is lost", () => {
    const typed = {
      text: "a",
      count: "3",
      ratio: "0.12345678901234567890",
      more: '[{"a":1,"a":12345678901234567890}]',
    };
    expect(readForm(fields, typed).json).toBe(
      `{"text":"a","count":3,"ratio":${typed.ratio},"loud":true,"more":${typed.more}}`,
    );
  });

  test.each([
    ["", "This is needed."],
    ["x", "Write a number, such as 3 or 0.5."],
    ["0x10", "Write a number, such as 3 or 0.5."],
    ["Infinity", "Write a number, such as 3 or 0.5."],
    ["+3", "Write a number, such as 3 or 0.5."],
    ["1e999", "Write a number, such as 3 or 0.5."],
    ["1.5", "Write a whole number."],
    ["0", "Write 1 or more."],
    ["11", "Write 10 or less."],
  ])("says at the field what is wrong with the count %j", (count, sentence) => {
    expect(readForm(fields, { text: "a", count }).wrong).toEqual({ count: sentence });
  });

  test("what a call needs stands first", () => {
    const properties = { copies: { type: "integer" }, text: { type: "string" } };
    expect(planForm({ type: "object", properties, required: ["text"] }).map(({ name }) => name)).toEqual([
      "text",
      "copies",
    ]);
  });

  test("a text that is needed was forgotten, unless a person wrote something and removed it", () => {
    expect(readForm(fields, { count: "1" }).wrong).toEqual({ text: "This is needed." });
    expect(readForm(fields, { count: "1", text: "" })).toEqual({
      json: '{"text":"","count":1,"loud":true}',
      wrong: {},
    });
  });

  test("says where JSON is broken", () => {
    expect(readForm(fields, { text: "a", count: "1", more: "[1," }).wrong.more).toMatch(/^This is not JSON/);
  });

  test.each([undefined, {}, { type: "object" }, { type: "object", properties: {} }])(
    "of the schema %j takes the arguments as a whole",
    (schema) => {
      const whole = planForm(schema);
      expect(whole.map(({ name }) => name)).toEqual([WHOLE]);
      expect(readForm(whole, { [WHOLE]: '{"a":1,"a":2}' })).toEqual({ json: '{"a":1,"a":2}', wrong: {} });
      expect(readForm(whole, { [WHOLE]: "[1]" }).wrong[WHOLE]).toMatch(/an object/);
      expect(readForm(whole, {})).toEqual({ json: "{}", wrong: {} });
    },
  );

  test("a parameter with the name of a prototype's member is only a name", () => {
    const odd = planForm({
      type: "object",
      properties: { __proto__x: { type: "string" }, constructor: { type: "string" } },
    });
    expect(readForm(odd, { __proto__x: "a", constructor: "b" }).json).toBe('{"__proto__x":"a","constructor":"b"}');
    expect(readForm(odd, {})).toEqual({ json: "{}", wrong: {} });
  });
});
