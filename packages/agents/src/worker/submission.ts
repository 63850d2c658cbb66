// submit_result: how an agent hands in its work. Pure: arguments in, a deliverable or the reason for refusing them out.
//   With required fields every one is there exactly once, as text, required ones first.

import {
  exceedsBytes,
  isRecord,
  type JsonObject,
  type JsonValue,
  ToolplaneError,
  tryParseJsonStrict,
} from "@toolplane/protocol";
import type { ResultField } from "@toolplane/protocol/agents";

export type Submission = string | JsonObject | readonly JsonValue[];

interface Field {
  readonly name: string;
  readonly value: string;
}

const refuse = (why: string): ToolplaneError => new ToolplaneError("bad_request", `submit_result: ${why}`);

const asText = (value: JsonValue | undefined): string => {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
};

const isNamed = (entry: unknown): entry is { readonly name: string; readonly value?: JsonValue } =>
  isRecord(entry) && typeof entry.name === "string" && entry.name.trim() !== "";

const fieldsOfList = (list: readonly JsonValue[]): Field[] => {
  const wrong = list.findIndex((entry) => !isNamed(entry));
  if (wrong !== -1) throw refuse(`fields[${wrong}] must be an object with a name and a value`);
  return list.filter(isNamed).map(({ name, value }) => ({ name: name.trim(), value: asText(value) }));
};

/** Models often send a document as JSON text. */
const unwrapText = (result: JsonValue): JsonValue => {
  if (typeof result !== "string") return result;
  const parsed = tryParseJsonStrict(result) as JsonValue | undefined;
  return typeof parsed === "object" && parsed !== null ? parsed : result;
};

const readFields = (given: JsonValue): Field[] => {
  const result = unwrapText(given);
  if (Array.isArray(result)) return fieldsOfList(result as readonly JsonValue[]);
  if (!isRecord(result)) throw refuse("result must hold the required fields as a list of {name, value}");
  if (Array.isArray(result.fields)) return fieldsOfList(result.fields as readonly JsonValue[]);
  return Object.entries(result as JsonObject).map(([name, value]) => ({ name: name.trim(), value: asText(value) }));
};

const orderFields = (fields: readonly Field[], required: readonly ResultField[]): Field[] => {
  const byName = new Map<string, Field>();
  const doubled = new Set<string>();
  for (const field of fields) {
    if (byName.has(field.name)) doubled.add(field.name);
    byName.set(field.name, field);
  }
  if (doubled.size > 0) throw refuse(`these fields are there more than once: ${[...doubled].join(", ")}`);
  const missing = required.filter(({ name }) => !byName.has(name)).map(({ name }) => name);
  if (missing.length > 0) throw refuse(`these required fields are missing: ${missing.join(", ")}`);
  const wanted = new Set(required.map(({ name }) => name));
  const first = required.map(({ name }) => byName.get(name)).filter((field) => field !== undefined);
  return [...first, ...fields.filter(({ name }) => !wanted.has(name))];
};

const passThrough = (result: JsonValue): Submission => {
  if (typeof result === "string") return result;
  if (typeof result !== "object" || result === null) return String(result);
  if (Array.isArray(result)) return result as readonly JsonValue[];
  const document = result as JsonObject;
  if (!Array.isArray(document.fields) || !document.fields.every(isNamed)) return document;
  return { ...document, fields: fieldsOfList(document.fields as readonly JsonValue[]) as unknown as JsonValue };
};

/** The room in a deliverable's card. */
const MAX_RESULT_BYTES = 896 * 1024;

/** Throws `bad_request`, which the model is told; the turn goes on. */
export const readSubmission = (args: JsonObject, required: readonly ResultField[]): Submission => {
  const { result } = args;
  if (result === undefined || result === null) throw refuse("the argument result is missing");
  if (exceedsBytes(JSON.stringify(result), MAX_RESULT_BYTES))
    throw refuse(`result is larger than ${MAX_RESULT_BYTES} bytes; hand in less`);
  if (required.length === 0) return passThrough(result);
  return { fields: orderFields(readFields(result), required) as unknown as JsonValue };
};
