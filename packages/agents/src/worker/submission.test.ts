import { type JsonObject, type JsonValue, ToolplaneError } from "@toolplane/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readSubmission } from "./submission.ts";

const REQUIRED = [{ name: "answer" }, { name: "why", description: "reasons" }];

const refusal = (args: JsonObject, required = REQUIRED): string => {
  try {
    readSubmission(args, required);
  } catch (error) {
    expect(error).toBeInstanceOf(ToolplaneError);
    expect((error as ToolplaneError).code).toBe("bad_request");
    return (error as ToolplaneError).message;
  }
  return "accepted";
};

const fields = (...pairs: [string, string][]) => ({ fields: pairs.map(([name, value]) => ({ name, value })) });

describe("[UTP-10.4-2] accepted fields are text, required ones first", () => {
  test.each<[string, JsonValue, JsonObject]>([
    [
      "a list under fields",
      {
        fields: [
          { name: "why", value: 2 },
          { name: "answer", value: "a" },
        ],
      },
      fields(["answer", "a"], ["why", "2"]),
    ],
    ["a map", { why: null, answer: { deep: [1] } }, fields(["answer", '{"deep":[1]}'], ["why", ""])],
    [
      "a list",
      [{ name: " answer ", value: true }, { name: "more", value: "m" }, { name: "why" }],
      fields(["answer", "true"], ["why", ""], ["more", "m"]),
    ],
    ["a document as its own text", '{"answer":"a","why":"w"}', fields(["answer", "a"], ["why", "w"])],
  ])("%s", (_what, result, deliverable) => {
    expect(readSubmission({ result }, REQUIRED)).toEqual(deliverable);
  });

  test.each<[string, JsonValue, JsonValue]>([
    ["a text", "done", "done"],
    ["a number", 7, "7"],
    ["a list", [1, 2], [1, 2]],
    ["a document", { a: { b: 1 } }, { a: { b: 1 } }],
    [
      "a document with fields",
      { fields: [{ name: "n", value: 5 }], note: 1 },
      { fields: [{ name: "n", value: "5" }], note: 1 },
    ],
    ["fields that are not fields", { fields: [1] }, { fields: [1] }],
  ])("without required fields: %s passes through", (_what, result, deliverable) => {
    expect(readSubmission({ result }, [])).toEqual(deliverable);
  });
});

test.each<[string, JsonObject, string]>([
  ["no result", {}, "result is missing"],
  ["null", { result: null }, "result is missing"],
  ["a field missing", { result: { answer: "a" } }, "missing: why"],
  ["both missing", { result: {} }, "missing: answer, why"],
  ["a doubled field", { result: [{ name: "answer" }, { name: "answer" }, { name: "why" }] }, "more than once: answer"],
  ["a plain text", { result: "done" }, "list of {name, value}"],
  ["a nameless entry", { result: { fields: [{ value: 1 }] } }, "fields[0]"],
])("[UTP-10.4-1] submit_result is refused with %s", (_what, args, says) => {
  expect(refusal(args)).toContain(says);
});

test("[UTP-10.4-1] a missing result is refused without required fields too", () => {
  expect(refusal({}, [])).toContain("result is missing");
});

test("[UTP-10.4-2] whatever is accepted has every required field once, as text", () => {
  const name = fc.constantFrom("answer", "why", "more", "else");
  const entry = fc.record({ name, value: fc.jsonValue() });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 5 }), (given) => {
      let accepted: unknown;
      try {
        accepted = readSubmission({ result: { fields: given as JsonValue } }, REQUIRED);
      } catch (error) {
        expect(error).toBeInstanceOf(ToolplaneError);
        return;
      }
      const list = (accepted as { fields: { name: string; value: unknown }[] }).fields;
      expect(list.slice(0, 2).map((field) => field.name)).toEqual(["answer", "why"]);
      expect(new Set(list.map((field) => field.name)).size).toBe(list.length);
      expect(list.every((field) => typeof field.value === "string")).toBe(true);
    }),
  );
});
