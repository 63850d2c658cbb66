import { expect, test } from "vitest";
import { planElicitation } from "./plan-elicitation.ts";

const form = (properties: object, required: readonly string[] = []) => ({
  message: "Which?",
  requestedSchema: { type: "object", properties, required },
});

test("a form is sent unchanged: every default that fits its field", () => {
  const fields = {
    name: { type: "string", default: "Ann" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 9.5 },
    sure: { type: "boolean", default: false },
    state: { type: "string", enum: ["on", "off"], default: "off" },
    titled: { type: "string", oneOf: [{ const: "a", title: "A" }], default: "a" },
    many: { type: "array", items: { enum: ["x", "y"] }, default: ["x"] },
    note: { type: "string" },
  };
  expect(planElicitation(form(fields, ["name", "sure"]))).toEqual({
    action: "accept",
    content: { name: "Ann", age: 30, score: 9.5, sure: false, state: "off", titled: "a", many: ["x"] },
  });
});

test.each([
  ["a required field without a default", form({ a: { type: "string" }, b: { default: "x" } }, ["a"]), /needs a,/],
  ["a default of another type", form({ a: { type: "integer", default: 1.5 } }, ["a"]), /needs a,/],
  ["a default outside its choices", form({ a: { type: "string", enum: ["x"], default: "y" } }, ["a"]), /needs a,/],
  [
    "a list outside its choices",
    form({ a: { type: "array", items: { anyOf: [{ const: "x" }] }, default: ["y"] } }, ["a"]),
    /needs a,/,
  ],
  ["a required field that the form does not have", form({ b: { default: "x" } }, ["toString"]), /needs toString,/],
  ["a form that asks for consent", form({ sure: { type: "boolean" } }), /only a person can agree/],
  ["an empty form", { message: "Delete everything?" }, /only a person can agree/],
  ["an address", { mode: "url", url: "https://login.example/", message: "Log in" }, /open an address/],
])("%s is declined with the reason", (_, params, reason) => {
  expect(planElicitation(params)).toEqual({ action: "decline", reason: expect.stringMatching(reason) });
});
