// Arguments to try a tool with: those of the command line, or what its schema suggests; and a second, different set, so that a
// result shows which arguments it was made from.

import { isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import { WrongUsage } from "../cli/wrong-usage.ts";

export interface SamplePair {
  readonly first: JsonObject;
  /** Undefined when there is nothing to vary. */
  readonly second: JsonObject | undefined;
}

type Which = 0 | 1;
type Schema = Readonly<Record<string, unknown>>;

/** They differ in length, in words and in letters, whatever a tool counts. */
const TEXTS = ["one", "two words"] as const;
const NUMBERS = [1, 2] as const;
/** Deeper than any sensible tool; a schema that contains itself ends here. */
const MAX_DEPTH = 8;

const asSchema = (value: unknown): Schema => (isRecord(value) ? value : {});

/** The value that is there for this sample, or the last one that is. */
const pick = <T>(values: readonly T[], which: Which): T | undefined => values[Math.min(which, values.length - 1)];

const sampleText = (schema: Schema, which: Which): string => {
  const least = typeof schema.minLength === "number" ? schema.minLength : 0;
  const most = typeof schema.maxLength === "number" ? schema.maxLength : Number.POSITIVE_INFINITY;
  const text = TEXTS[which].padEnd(least, which === 0 ? "o" : "t");
  return text.slice(0, most);
};

const sampleNumber = (schema: Schema, which: Which): number => {
  const least = typeof schema.minimum === "number" ? schema.minimum : undefined;
  const most = typeof schema.maximum === "number" ? schema.maximum : Number.POSITIVE_INFINITY;
  const wanted = least === undefined ? NUMBERS[which] : Math.max(NUMBERS[which], least + which);
  return Math.min(wanted, most);
};

const typeOf = (schema: Schema): unknown => {
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== "null") : schema.type;
  return type ?? (isRecord(schema.properties) ? "object" : undefined);
};

const sampleObject = (schema: Schema, which: Which, depth: number): JsonObject => {
  const properties = asSchema(schema.properties);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const names = Object.keys(properties).filter((name) => required.includes(name));
  // A tool without required parameters still shows more when it gets an optional one.
  const chosen = names.length > 0 ? names : Object.keys(properties).slice(0, 1);
  return Object.fromEntries(chosen.map((name) => [name, sample(asSchema(properties[name]), which, depth + 1)]));
};

const sample = (schema: Schema, which: Which, depth: number): JsonValue => {
  if (depth > MAX_DEPTH) return null;
  if (Object.hasOwn(schema, "const")) return schema.const as JsonValue;
  for (const list of [schema.examples, schema.enum]) {
    if (Array.isArray(list) && list.length > 0) return pick(list as JsonValue[], which) ?? null;
  }
  const [branch] = [schema.anyOf, schema.oneOf, schema.allOf].filter(Array.isArray);
  if (branch !== undefined && typeOf(schema) === undefined) return sample(asSchema(branch[0]), which, depth + 1);
  switch (typeOf(schema)) {
    case "object":
      return sampleObject(schema, which, depth);
    case "array":
      return [sample(asSchema(schema.items), which, depth + 1)];
    case "integer":
    case "number":
      return sampleNumber(schema, which);
    case "boolean":
      return which === 0;
    case "null":
      return null;
    default:
      return sampleText(schema, which);
  }
};

/** The value with the first changeable part changed; undefined when nothing can be changed. */
const vary = (value: JsonValue): JsonValue | undefined => {
  if (typeof value === "string") return `${value} ${TEXTS[1]}`;
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  const entries = Object.entries(value ?? {});
  for (const [key, inner] of entries) {
    const changed = vary(inner as JsonValue);
    if (changed === undefined) continue;
    if (Array.isArray(value)) return value.map((item, index) => (String(index) === key ? changed : item));
    return { ...(value as JsonObject), [key]: changed };
  }
  return undefined;
};

const differing = (first: JsonObject, second: JsonValue | undefined): JsonObject | undefined =>
  second === undefined || JSON.stringify(first) === JSON.stringify(second) ? undefined : (second as JsonObject);

/** `{...}`, or `[{...}, {...}]` for both sets. */
export const parseArguments = (text: string): SamplePair => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new WrongUsage('--arguments takes a JSON object such as {"text": "hello"}', "conform");
  }
  const [first, second, ...more] = Array.isArray(value) ? (value as unknown[]) : [value];
  if (!isRecord(first) || more.length > 0 || (second !== undefined && !isRecord(second)))
    throw new WrongUsage("--arguments takes a JSON object, or an array of two to try one after the other", "conform");
  const given = first as JsonObject;
  return { first: given, second: differing(given, second === undefined ? vary(given) : (second as JsonObject)) };
};

/** What a tool's schema suggests. */
export const sampleArguments = (parameters: JsonObject): SamplePair => {
  const first = sampleObject(parameters, 0, 0);
  return { first, second: differing(first, sampleObject(parameters, 1, 0)) };
};
