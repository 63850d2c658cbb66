// Parameters the author manages (args.fixed, envs) are not the caller's: they vanish from what a model sees, and
// env-managed ones are not asked for at dispatch because their values appear only inside the executor (I8).
// They are taken out wherever the schema speaks about the arguments object itself, not only at its root: a name left in
// an `allOf` branch would still be shown, or still be required.

import type { JsonObject, JsonValue } from "../json/json-value.ts";
import { isJsonObject } from "./schema-walk.ts";

/** Applicators whose subschemas describe the same value as the schema that holds them. */
const SAME_VALUE_LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf"]);
const SAME_VALUE: ReadonlySet<string> = new Set(["if", "then", "else"]);

type KeepName = (name: string) => boolean;

const keepNames = (value: JsonValue, keep: KeepName): JsonValue =>
  Array.isArray(value) ? value.filter((name) => typeof name !== "string" || keep(name)) : value;

const keepMembers = (value: JsonValue, keep: KeepName): JsonValue =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => keep(name))) : value;

const dependencies = (value: JsonValue, keep: KeepName): JsonValue =>
  isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, needed]) => [name, keepNames(needed, keep)]))
    : value;

const rewrite = (schema: JsonObject, keep: KeepName, dropProperties: boolean): JsonObject => {
  const deeper = (value: JsonValue): JsonValue => (isJsonObject(value) ? rewrite(value, keep, dropProperties) : value);
  const result: Record<string, JsonValue> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "required") result[keyword] = keepNames(value, keep);
    else if (keyword === "properties") result[keyword] = dropProperties ? keepMembers(value, keep) : value;
    else if (keyword === "dependentRequired") result[keyword] = dependencies(value, keep);
    else if (SAME_VALUE_LISTS.has(keyword) && Array.isArray(value)) result[keyword] = value.map(deeper);
    else if (SAME_VALUE.has(keyword)) result[keyword] = deeper(value);
    else result[keyword] = value;
  }
  return result;
};

/** The schema without these parameters: neither offered nor required. */
export const omitParameters = (schema: JsonObject, names: ReadonlySet<string>): JsonObject =>
  rewrite(schema, (name) => !names.has(name), true);

/** The schema with these parameters still described but no longer required. */
export const relaxParameters = (schema: JsonObject, names: ReadonlySet<string>): JsonObject =>
  rewrite(schema, (name) => !names.has(name), false);
