// Counts the cost of a check while it runs. A step is some ten to a hundred nanoseconds; a check that has used up its steps stops
// (OutOfSteps), wherever it is.
//   MT1. Every place of a schema that is reached pays for itself and for each schema directly below it, before those are looked
//       at. So a branch that fails at once is paid for too.
//   MT2. Work that grows with the value is paid by the value's size: items, members, the length of texts, the size of a pattern.
//   MT3. `enum` and `uniqueItems` look values up, instead of comparing each with each as ajv would.

import { canonicalText, isRecord, type JsonObject, ToolplaneError } from "@toolplane/protocol";
import { _, type Ajv, type Code, type CodeKeywordDefinition, type KeywordCxt } from "ajv";
import type { Ajv2020 } from "ajv/dist/2020.js";

export class OutOfSteps extends ToolplaneError {
  constructor() {
    super("bad_request", "checking takes too many steps");
  }
}

export interface Meter {
  left: number;
  /** Throws. */
  readonly stop: () => never;
}

export const createMeter = (): Meter => ({
  left: 0,
  stop: () => {
    throw new OutOfSteps();
  },
});

export const spend = (meter: Meter, steps: number): void => {
  meter.left -= steps;
  if (meter.left < 0) meter.stop();
};

const STEP = "x-toolplane-step";
const TEXT_STEP = "x-toolplane-text-step";

/** Keywords whose value is a list or a map with one schema, or one name to look for, per entry. */
const PAID_PER_ENTRY = ["anyOf", "oneOf", "allOf", "prefixItems", "required", "properties"] as const;
const PAID_PER_ENTRY_TOO = ["dependentRequired", "dependentSchemas", "dependencies", "patternProperties"] as const;
const LOOPS_OVER_ITEMS = ["items", "prefixItems", "additionalItems", "contains", "unevaluatedItems"] as const;
const LOOPS_OVER_MEMBERS = ["additionalProperties", "propertyNames", "unevaluatedProperties"] as const;
const COUNTS_MEMBERS = ["patternProperties", "minProperties", "maxProperties"] as const;

const has = (schema: JsonObject, keywords: readonly string[]): boolean =>
  keywords.some((keyword) => schema[keyword] !== undefined);

const entriesOf = (value: unknown): number => {
  if (Array.isArray(value)) return value.length;
  return isRecord(value) ? Object.keys(value).length : 0;
};

/** Comparing with a constant costs at most its length. */
const constantCost = (value: unknown): number =>
  typeof value === "object" && value !== null ? JSON.stringify(value).length >> 3 : 0;

const fixedCost = (schema: JsonObject): number => {
  let cost = 1 + Object.keys(schema).length + constantCost(schema.const);
  for (const keyword of [...PAID_PER_ENTRY, ...PAID_PER_ENTRY_TOO]) cost += entriesOf(schema[keyword]);
  if (isRecord(schema.dependentRequired))
    for (const names of Object.values(schema.dependentRequired)) cost += entriesOf(names);
  return cost;
};

/** Marks a place of a schema, so that it is paid for when it is reached. The schema is our own copy. */
export const markPlace = (schema: JsonObject): void => {
  const own = schema as Record<string, unknown>;
  if (schema.minLength !== undefined || schema.maxLength !== undefined) own[TEXT_STEP] = true;
  own[STEP] = fixedCost(schema);
};

const perItem = (schema: JsonObject, data: Code): Code =>
  has(schema, LOOPS_OVER_ITEMS) ? _`(Array.isArray(${data}) ? ${data}.length : 0)` : _`0`;

const perMember = (schema: JsonObject, data: Code): Code => {
  if (!has(schema, [...LOOPS_OVER_MEMBERS, ...COUNTS_MEMBERS])) return _`0`;
  const times = 1 + entriesOf(schema.patternProperties);
  const isObject = _`(typeof ${data} == "object" && ${data} !== null && !Array.isArray(${data}))`;
  return _`(${isObject} ? Object.keys(${data}).length * ${times} : 0)`;
};

const pay = ({ gen }: KeywordCxt, meter: Meter, steps: Code): void => {
  const own = gen.scopeValue("obj", { ref: meter });
  gen.code(_`${own}.left -= ${steps}`);
  gen.if(_`${own}.left < 0`, () => gen.code(_`${own}.stop()`));
};

const stepKeyword = (meter: Meter): CodeKeywordDefinition => ({
  keyword: STEP,
  // Ajv runs this keyword first among those that ask for no type.
  before: "$ref",
  code(cxt) {
    const schema = cxt.parentSchema as JsonObject;
    pay(cxt, meter, _`${cxt.schema as number} + ${perItem(schema, cxt.data)} + ${perMember(schema, cxt.data)}`);
  },
});

/** Counting the characters of a text takes longer than all the rest of a small check. */
const textKeyword = (meter: Meter): CodeKeywordDefinition => ({
  keyword: TEXT_STEP,
  type: "string",
  before: "maxLength",
  code(cxt) {
    pay(cxt, meter, _`(${cxt.data}.length >> 6)`);
  },
});

/** Equal values have equal canonical text; scalars stand for themselves. */
const keyOf = (value: unknown, maxBytes?: number): unknown =>
  typeof value === "object" && value !== null
    ? `\u0000${canonicalText(value, maxBytes === undefined ? {} : { maxBytes })}`
    : value;

const isUnique = (items: readonly unknown[], meter: Meter): boolean => {
  const seen = new Set<unknown>();
  for (const item of items) {
    const key = keyOf(item);
    spend(meter, 1 + (typeof key === "string" ? key.length >> 4 : 0));
    if (seen.has(key)) return false;
    seen.add(key);
  }
  return true;
};

/** A value longer than the longest allowed one cannot match, and is not read to its end. */
const createLookup = (allowed: readonly unknown[], meter: Meter): ((value: unknown) => boolean) => {
  const keys = new Set(allowed.map((value) => keyOf(value)));
  const lengths = allowed.map((value) =>
    typeof value === "object" && value !== null ? JSON.stringify(value).length : 0,
  );
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  return (value) => {
    if (typeof value !== "object" || value === null) return keys.has(value);
    if (longest === 0) return false;
    spend(meter, 1 + (longest >> 3));
    try {
      // UTF-8 takes up to three bytes for a unit of text.
      return keys.has(keyOf(value, longest * 3));
    } catch {
      return false;
    }
  };
};

export const addMeteredKeywords = (ajv: Ajv | Ajv2020, meter: Meter): void => {
  ajv.addKeyword(stepKeyword(meter));
  ajv.addKeyword(textKeyword(meter));
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    errors: false,
    validate: (wanted: boolean, items: readonly unknown[]) => !wanted || isUnique(items, meter),
  });
  ajv.removeKeyword("enum");
  ajv.addKeyword({
    keyword: "enum",
    schemaType: "array",
    errors: false,
    error: {
      message: "must be one of the allowed values",
      params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}`,
    },
    compile: (allowed: readonly unknown[]) => createLookup(allowed, meter),
  });
};
