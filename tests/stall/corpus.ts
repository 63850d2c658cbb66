// Documents that cost far more to read or to check than their size says. Each names its door, and what must become of
// it: `refused` before anything is built of it, or `thread`, which means that a thread reads or checks it.

import type { JsonObject } from "@toolplane/protocol";

export type Hostile = { readonly name: string; readonly fate: "refused" | "thread" } & (
  | { readonly door: "yaml"; readonly text: string }
  | { readonly door: "tool"; readonly parameters: JsonObject }
  | { readonly door: "call"; readonly parameters: JsonObject; readonly arguments: JsonObject }
  | { readonly door: "result" | "batch"; readonly text: string }
);

const list = <Item>(count: number, item: (i: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => item(i));
const named = <Item>(count: number, item: (i: number) => Item): Record<string, Item> =>
  Object.fromEntries(list(count, (i) => [`k${i}`, item(i)]));
const object = (properties: JsonObject): JsonObject => ({ type: "object", properties });

const yaml = (name: string, text: string): Hostile => ({ name, door: "yaml", fate: "thread", text });
const tool = (name: string, a: JsonObject): Hostile => ({
  name,
  door: "tool",
  fate: "thread",
  parameters: object({ a }),
});
const call = (name: string, a: JsonObject, value: unknown): Hostile => ({
  name,
  door: "call",
  fate: "thread",
  parameters: object({ a }),
  arguments: { a: value } as JsonObject,
});
const members = (count: number): string => `{${list(count, (i) => `"k${i}":0`).join(",")}}`;
const rows = (count: number, row: (i: number) => string): string => `[${list(count, row).join(",")}]`;
const bodies = (name: string, value: string): Hostile[] => [
  { name: `result: ${name}`, door: "result", fate: "refused", text: `{"status":"success","result":${value}}` },
  {
    name: `batch: ${name}`,
    door: "batch",
    fate: "refused",
    text: `[{"tool_name":"sample","arguments":{"a":${value}}}]`,
  },
];

const YAML: readonly Hostile[] = [
  yaml(
    "50,000 keys",
    list(50_000, (i) => `${i.toString(36)}:`)
      .join("\n")
      .slice(0, 250_000),
  ),
  yaml("explicit keys in each other", `${"? ".repeat(500)}a`),
  yaml("lists in each other", `a: ${"[".repeat(20_000)}`),
  yaml("maps in each other", `a: ${"{a: ".repeat(10_000)}`),
  yaml("entries in each other", `${"- ".repeat(4_000)}a`),
  yaml("100,000 short entries", "- a\n".repeat(60_000)),
  yaml(
    "aliases of aliases",
    `${list(9, (i) => `a${i}: &a${i} [${list(5, () => (i === 0 ? "x" : `*a${i - 1}`)).join(",")}]`).join("\n")}\n`,
  ),
  yaml("a text of escapes", `a: "${"\\x41".repeat(60_000)}"`),
  yaml("comments", "#\n".repeat(120_000)),
  yaml("documents", "---\n".repeat(60_000)),
];

const SCHEMAS: readonly Hostile[] = [
  tool("an enum of 42,001", { enum: list(42_001, (i) => i) }),
  tool("oneOf of 900", { oneOf: list(900, (i) => ({ const: i })) }),
  tool("900 properties", object(named(900, () => ({ type: "string", minLength: 1 })))),
  tool("300 patterns", object(named(300, (i) => ({ type: "string", pattern: `^a${i}{1,99}$` })))),
  tool("an enum of objects", { enum: list(5_000, (i) => ({ i })) }),
  tool("required of 20,000", { type: "object", required: list(20_000, (i) => `k${i}`) }),
  tool("definitions that fan out", { $defs: named(200, () => ({ type: "object" })), type: "string" }),
  tool("names by pattern", { type: "object", patternProperties: Object.fromEntries(list(100, (i) => [`^a${i}`, {}])) }),
];

const text = "a".repeat(900_000);
const numbers = list(100_000, (i) => i);

const CALLS: readonly Hostile[] = [
  call(
    "an enum of 42,001 against 100,000 items",
    { type: "array", items: { enum: list(42_001, (i) => i) } },
    list(100_000, () => 42_000),
  ),
  call(
    "oneOf of 900 against a list",
    { type: "array", items: { oneOf: list(900, (i) => ({ const: i })) } },
    list(10_000, () => 1),
  ),
  call("40 lengths of a long text", { anyOf: list(40, () => ({ type: "string", minLength: 900_001 })) }, text),
  call("a pattern of 950 repetitions", { type: "string", pattern: "[ab]{950}c" }, text),
  call("a pattern with many ways", { type: "string", pattern: "([ab]*a[ab]{300})+c" }, "ab".repeat(200_000)),
  call(
    "types that never fit",
    { type: "array", items: { anyOf: [...list(40, () => ({ type: "string" })), { type: "number" }] } },
    numbers,
  ),
  call(
    "branches inside branches",
    { type: "array", items: { allOf: list(20, () => ({ anyOf: [{ minimum: 0 }, {}] })) } },
    numbers,
  ),
  call(
    "unique items in 30 branches",
    { allOf: list(30, () => ({ type: "array", uniqueItems: true, items: { minimum: 0 } })) },
    numbers,
  ),
  call("contains in 30 branches", { allOf: list(30, () => ({ contains: { const: -1 }, minContains: 0 })) }, numbers),
  call(
    "a map of names by pattern",
    { type: "object", patternProperties: { "^(a|b|c)*d$": {}, "x{200}": {} }, additionalProperties: true },
    named(9_900, () => 0),
  ),
  call(
    "names that are held to a schema",
    { type: "object", propertyNames: { anyOf: list(30, () => ({ maxLength: 1 })).concat([{ maxLength: 9 }]) } },
    named(9_900, () => 0),
  ),
  call(
    "members that nobody named",
    {
      type: "object",
      allOf: list(20, () => ({ additionalProperties: { minimum: 0 } })),
      unevaluatedProperties: true,
    },
    named(9_900, () => 0),
  ),
  call(
    "a large constant in 30 branches",
    { type: "array", items: { anyOf: list(30, (i) => ({ const: list(30, (j) => (j === 29 ? i : 0)) })) } },
    list(3_000, () => list(30, () => 0)),
  ),
  call(
    "a tree that doubles",
    {
      $defs: {
        n: { properties: { c: { allOf: [{ $ref: "#/properties/a/$defs/n" }, { $ref: "#/properties/a/$defs/n" }] } } },
      },
      $ref: "#/properties/a/$defs/n",
    },
    JSON.parse(`${'{"c":'.repeat(40)}{}${"}".repeat(40)}`),
  ),
];

const BODIES: readonly Hostile[] = [
  ...bodies("1.2 million names", members(1_000_000)),
  ...bodies(
    "objects that are all different",
    rows(100_000, (i) => `{"k${i}":0}`),
  ),
  ...bodies(
    "combinations of few names",
    rows(60_000, (i) => `{"a${i % 300}":0,"b${i}":0}`),
  ),
  ...bodies("a million numbers", `[${"0,".repeat(1_000_000)}0]`),
  ...bodies("a million empty lists", `[${"[],".repeat(1_000_000)}0]`),
  ...bodies("lists in each other", `${"[".repeat(300_000)}${"]".repeat(300_000)}`),
  ...bodies(
    "names with escapes",
    rows(60_000, (i) => `{"\\u0061${i}":0}`),
  ),
];

export const HOSTILE: readonly Hostile[] = [...YAML, ...SCHEMAS, ...CALLS, ...BODIES];
