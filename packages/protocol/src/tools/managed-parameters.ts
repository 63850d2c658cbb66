// Parameters that the author manages (args.fixed, envs) are not the caller's: a model does not see them, and env-managed ones
// are not required at dispatch, because their values exist only inside the executor (I8). They are removed wherever the schema
// describes the arguments object itself, not only at its root: a name left in an `allOf` branch would still be shown or
// required. The target of a
// `$ref` may also describe something else, so it is not rewritten: registration refuses a managed parameter there
// (`referencedParameter`).

import type { JsonObject, JsonValue } from "../json/json-value.ts";
import { isJsonObject, REFERENCES } from "./schema-walk.ts";

/** Applicators whose subschemas describe the same value as the schema that holds them. */
const SAME_VALUE_LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf"]);
const SAME_VALUE: ReadonlySet<string> = new Set(["if", "then", "else"]);
const SAME_VALUE_MAP = "dependentSchemas";

type KeepName = (name: string) => boolean;

const keepNames = (value: JsonValue, keep: KeepName): JsonValue =>
  Array.isArray(value) ? value.filter((name) => typeof name !== "string" || keep(name)) : value;

const keepMembers = (value: JsonValue, keep: KeepName): JsonValue =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => keep(name))) : value;

const mapMembers = (value: JsonValue, change: (member: JsonValue) => JsonValue): JsonValue =>
  isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member)]))
    : value;

const rewrite = (schema: JsonObject, keep: KeepName, dropProperties: boolean): JsonObject => {
  const deeper = (value: JsonValue): JsonValue => (isJsonObject(value) ? rewrite(value, keep, dropProperties) : value);
  const named = (value: JsonValue): JsonValue => (dropProperties ? keepMembers(value, keep) : value);
  const result: Record<string, JsonValue> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "required") result[keyword] = keepNames(value, keep);
    else if (keyword === "properties") result[keyword] = named(value);
    else if (keyword === "dependentRequired")
      result[keyword] = mapMembers(named(value), (needed) => keepNames(needed, keep));
    else if (keyword === SAME_VALUE_MAP) result[keyword] = mapMembers(named(value), deeper);
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

const childSchemas = (schema: JsonObject): readonly (JsonValue | undefined)[] => {
  const lists = [...SAME_VALUE_LISTS].flatMap((keyword) => {
    const list = schema[keyword];
    return Array.isArray(list) ? (list as readonly JsonValue[]) : [];
  });
  const map = schema[SAME_VALUE_MAP];
  return [
    ...lists,
    ...[...SAME_VALUE].map((keyword) => schema[keyword]),
    ...(isJsonObject(map) ? Object.values(map) : []),
  ];
};

const tryDecode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
};

/** The target of a reference; undefined for a reference by name, which only a compiler can resolve. */
const resolve = (root: JsonObject, reference: string): JsonValue | undefined => {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let at: JsonValue | undefined = root;
  for (const part of reference.slice("#/".length).split("/")) {
    const key = tryDecode(part);
    if (key === undefined || typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
};

const mentions = (schema: JsonObject, names: ReadonlySet<string>): string | undefined => {
  const { properties, required } = schema;
  const mentioned = [
    ...(isJsonObject(properties) ? Object.keys(properties) : []),
    ...(Array.isArray(required) ? (required as readonly JsonValue[]) : []),
  ];
  return mentioned.find((name): name is string => typeof name === "string" && names.has(name));
};

/** The first of these parameters that the schema describes behind a reference, or a reference that cannot be resolved. */
export const referencedParameter = (root: JsonObject, names: ReadonlySet<string>): string | undefined => {
  const seen = new Set<JsonValue>();
  const visit = (schema: JsonValue | undefined, referenced: boolean): string | undefined => {
    if (!isJsonObject(schema) || (referenced && seen.has(schema))) return undefined;
    if (referenced) seen.add(schema);
    const found = referenced ? mentions(schema, names) : undefined;
    if (found !== undefined) return found;
    for (const keyword of REFERENCES) {
      const reference = schema[keyword];
      if (typeof reference !== "string" || reference === "#") continue;
      const target = resolve(root, reference);
      const behind = target === undefined ? reference : visit(target, true);
      if (behind !== undefined) return behind;
    }
    for (const child of childSchemas(schema)) {
      const inside = visit(child, referenced);
      if (inside !== undefined) return inside;
    }
    return undefined;
  };
  return visit(root, false);
};
