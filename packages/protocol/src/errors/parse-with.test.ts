import { describe, expect, test } from "vitest";
import { z } from "zod";
import { parseCard } from "../cards/card.ts";
import { parseHostLine } from "../host/host-message.ts";
import { parseHostParams } from "../host/host-methods.ts";
import { parseHostValue } from "../host/host-values.ts";
import type { JsonObject, JsonValue } from "../json/json-value.ts";
import { parseTaskEvent } from "../payloads/agent-events.ts";
import { parseCommandPayload } from "../payloads/command.ts";
import { parseToolDefinition } from "../tools/parse-definition.ts";
import { parseWith } from "./parse-with.ts";
import { ToolplaneError } from "./toolplane-error.ts";

const MEGABYTE = 1024 * 1024;
/** A screenful: what an error may show of the input that caused it. */
const MAX_SHOWN = 12_000;

const refusalOf = (work: () => unknown): ToolplaneError => {
  try {
    work();
  } catch (error) {
    if (error instanceof ToolplaneError) return error;
    throw error;
  }
  throw new ToolplaneError("internal_error", "it was accepted");
};

const card = {
  card_id: "c1",
  project_id: "p1",
  type: "note",
  content: { __type__: "TextContent", text: "a" },
  created_at: "2026-01-01T00:00:00Z",
  author_id: "a1",
};
const definition = { tool_name: "t", target_subject: "cg.v1r4.p1.public.cmd.tool.t.run", after_execution: "suspend" };
const define = (extra: object): unknown =>
  parseToolDefinition({ ...definition, ...extra }, { projectId: "p1", version: "v1r4", compileSchema: () => () => [] });
const manyKeys = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, 1]));

describe("[SEC-4-C14] an error shows a bounded piece of the input that caused it", () => {
  test.each<[string, () => unknown]>([
    ["an unknown key of a card", () => parseCard({ ...card, ["k".repeat(MEGABYTE)]: 1 })],
    ["a hundred thousand unknown keys of a card", () => parseCard({ ...card, ...manyKeys(100_000) })],
    ["an unknown key of a definition", () => define({ ["k".repeat(200_000)]: 1 })],
    ["a fixed parameter's name", () => define({ options: { args: { fixed: { ["k".repeat(200_000)]: 1 } } } })],
    ["an unknown key of a strict command", () => parseCommandPayload({ ["k".repeat(MEGABYTE)]: 1 }, { strict: true })],
    ["unknown keys of a strict command", () => parseCommandPayload(manyKeys(100_000), { strict: true })],
    ["a kind of content", () => parseCard({ ...card, content: { __type__: "k".repeat(MEGABYTE) } })],
    ["a line that is not JSON", () => parseHostLine("k".repeat(MEGABYTE))],
  ])("%s", (_what, work) => {
    expect(JSON.stringify(refusalOf(work).toWire()).length).toBeLessThan(MAX_SHOWN);
  });
});

describe("[SEC-4-C15] a list of wrong items is refused at once, not once per item", () => {
  const wrong = Array<JsonValue>(1_000_000).fill(1);
  test.each<[string, () => unknown]>([
    ["tool_calls of a card", () => parseCard({ ...card, tool_calls: wrong })],
    ["fields of a card", () => parseCard({ ...card, content: { __type__: "FieldsSchemaContent", fields: wrong } })],
    ["tools of a card", () => parseCard({ ...card, content: { __type__: "ToolContent", tools: wrong } })],
    [
      "card ids of an event",
      () => parseTaskEvent({ agent_turn_id: "t", status: "success", output_box: { card_ids: wrong } }),
    ],
    ["tags of a host", () => parseHostValue("get_tags", wrong)],
    ["models for a host", () => parseHostParams("get_tags", { config: {}, models: wrong } as JsonObject, "1")],
  ])("%s", (_what, work) => {
    const began = process.cpuUsage();
    const refusal = refusalOf(work);
    // Item by item a million took four seconds on an idle machine; at once it is the copy of the list, some 50 ms.
    expect(process.cpuUsage(began).user).toBeLessThan(2000_000);
    expect(JSON.stringify(refusal.toWire()).length).toBeLessThan(MAX_SHOWN);
  });

  test.each([
    ["from JSON", JSON.parse('{"length":{"toString":1,"valueOf":1}}')],
    ["without a prototype", { length: Object.create(null) }],
  ])("[SEC-4-C13] a value whose length cannot be compared is refused, not thrown at: %s", (_name, name) => {
    expect(refusalOf(() => parseTaskEvent({ ...{ agent_id: name }, agent_turn_id: name })).code).toBe("bad_request");
  });
});

test.each([
  ['$.a.role: missing, expected one of "x"|"y"', { a: {} }],
  ['$.a.role: expected one of "x"|"y", got another text', { a: { role: "z" } }],
  ["$.a: missing, expected object", {}],
])("what is not there is called missing: %s", (message, input) => {
  const schema = z.object({ a: z.object({ role: z.enum(["x", "y"]) }) });
  expect(refusalOf(() => parseWith(schema, input, "it")).message).toBe(`it is not valid: ${message}`);
});

const words = z.strictObject({
  name: z.string().min(2).max(4).optional(),
  count: z.int().min(1).max(9).optional(),
  list: z.array(z.string()).max(1).optional(),
  at: z.iso.datetime({ offset: true }).optional(),
  own: z.string().min(2, "is too short for a name").optional(),
});

test.each<[string, unknown]>([
  ["$.name: expected at least 2 characters, got 1", { name: "a" }],
  ["$.name: expected at most 4 characters, got 5", { name: "abcde" }],
  ["$.name: expected string, got number", { name: 7 }],
  ["$.count: expected at least 1, got 0", { count: 0 }],
  ["$.count: expected at most 9, got 10", { count: 10 }],
  ["$.count: expected a whole number, got 1.5", { count: 1.5 }],
  ["$.list: expected at most 1 items, got 2", { list: ["a", "b"] }],
  ["$.at: expected a time as 2026-01-31T12:00:00Z", { at: "yesterday" }],
  ["$.own: is too short for a name", { own: "a" }],
  ['$: unknown keys "more", "most"', { more: 1, most: 2 }],
])("what is wrong is said in words: %s", (message, input) => {
  expect(refusalOf(() => parseWith(words, input, "it")).message).toBe(`it is not valid: ${message}`);
});

const query = z.strictObject({ limit: z.coerce.number().int().min(1).max(9).optional() });

test.each<[string, string]>([
  ["expected at least 1, got 0", "0"],
  ["expected at most 9, got 10", "10"],
  ["expected a whole number, got 1.5", "1.5"],
  ["expected number, got a text that is not a number", "many"],
])("a number of a query comes as text and is judged as a number: %s", (message, limit) => {
  expect(refusalOf(() => parseWith(query, { limit }, "the query")).message).toBe(
    `the query is not valid: $.limit: ${message}`,
  );
});
