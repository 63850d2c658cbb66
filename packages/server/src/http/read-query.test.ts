import { isToolplaneError } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { pageQuery, toolNameQuery, traceIdQuery } from "./page-query.ts";
import { readQuery } from "./read-query.ts";

const schema = pageQuery.extend({ tool_name: toolNameQuery, trace_id: traceIdQuery });

const refusalOf = (given: Readonly<Record<string, readonly string[]>>, of: Parameters<typeof readQuery>[0]) => {
  try {
    readQuery(of, given);
  } catch (error) {
    return isToolplaneError(error) ? error.message : expect.unreachable(String(error));
  }
  return expect.unreachable("it was taken");
};

test("a query is read by the schema of its route", () => {
  expect(readQuery(schema, { limit: ["5"], trace_id: ["AB".repeat(16)] })).toEqual({
    limit: 5,
    trace_id: "ab".repeat(16),
  });
  expect(readQuery(undefined, {})).toBeUndefined();
});

test.each<[string, Readonly<Record<string, readonly string[]>>, string]>([
  ["a misspelt key", { limt: ["5"] }, "unknown key limt; did you mean limit?; this route takes"],
  ["half of a key", { tool: ["x"] }, "unknown key tool; did you mean tool_name?"],
  ["a key twice", { limit: ["5", "6"] }, "limit is given 2 times; give it once"],
  ["a trace that is none", { trace_id: ["zz"] }, "$.trace_id: is 32 hexadecimal digits"],
  ["a name that no tool can have", { tool_name: ["a b"] }, "$.tool_name: is the name of a tool"],
  ["a number as text", { limit: ["many"] }, "$.limit: expected number, got a text that is not a number"],
])("%s is refused by name", (_, given, message) => {
  expect(refusalOf(given, schema)).toContain(message);
});

test("a route without a query says so", () => {
  expect(refusalOf({ limit: ["1"] }, undefined)).toContain("this route takes no query");
});
