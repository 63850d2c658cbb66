// What the parameters of a tool must look like before a compiler sees them: an object schema; every array describes its items
// (model providers refuse one that does not); references stay inside the document (SEC-10); no hidden characters. The compiler
// that is passed in decides whether the schema is valid in its dialect.

import { ToolplaneError } from "../errors/toolplane-error.ts";
import { formatJsonPath } from "../json/json-path.ts";
import type { JsonObject, JsonValue } from "../json/json-value.ts";
import { codePointName, findHiddenCharacter } from "./hidden-characters.ts";
import { isJsonObject, REFERENCES, type SchemaPath, walkSchema } from "./schema-walk.ts";

export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

/** Returns the issues of a value; an empty list means it is valid. */
export type ValidateValue = (value: unknown) => readonly SchemaIssue[];

/** Throws when the schema is not valid in its dialect. */
export type CompileSchema = (schema: JsonObject) => ValidateValue;

const refuse = (segments: SchemaPath, message: string): never => {
  const path = formatJsonPath(segments);
  throw new ToolplaneError("bad_request", `parameters: ${path}: ${message}`, { detail: { path } });
};

/** Keywords that leave a schema without `type` an object schema; any other one must come with `type: object`. */
const OBJECT_KEYWORDS: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$comment",
  "$defs",
  "definitions",
  "title",
  "description",
  "examples",
  "properties",
  "required",
  "additionalProperties",
  "patternProperties",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedProperties",
]);

const checkObjectSchema = (schema: JsonObject): void => {
  if (schema.type === "object") return;
  if (schema.type !== undefined) refuse(["type"], 'arguments are always an object; say "type": "object"');
  const odd = Object.keys(schema).find((keyword) => !OBJECT_KEYWORDS.has(keyword));
  if (odd !== undefined) refuse([odd], 'say "type": "object" beside it');
};

const isArrayType = (type: JsonValue | undefined): boolean =>
  type === "array" || (Array.isArray(type) && type.includes("array"));

/** Where the rule about items applies; a `not` or an `if` may be about arrays in general. */
const ITEMS_RULE_REACH: ReadonlySet<string> = new Set([
  "properties",
  "items",
  "anyOf",
  "oneOf",
  "allOf",
  "$defs",
  "definitions",
]);

const checkArrayItems = (schema: JsonObject, path: SchemaPath): void => {
  if (!isArrayType(schema.type)) return;
  const items = schema.items;
  if (!isJsonObject(items) || Object.keys(items).length === 0) {
    refuse(path, 'type "array" needs "items": a non-empty schema object');
  }
};

const checkReferences = (schema: JsonObject, path: SchemaPath): void => {
  for (const keyword of REFERENCES) {
    const reference = schema[keyword];
    if (typeof reference === "string" && !reference.startsWith("#")) {
      refuse([...path, keyword], "a reference must stay inside the document (start with #)");
    }
  }
};

const checkReadable = (text: string, path: SchemaPath): void => {
  const hidden = findHiddenCharacter(text);
  if (hidden !== undefined) refuse(path, `invisible or bidi character ${codePointName(hidden.codePoint)}`);
};

const READ_BY_MODELS = ["title", "description"] as const;

const checkTexts = (schema: JsonObject, path: SchemaPath): void => {
  for (const keyword of READ_BY_MODELS) {
    const text = schema[keyword];
    if (typeof text === "string") checkReadable(text, [...path, keyword]);
  }
  const properties = schema.properties;
  if (!isJsonObject(properties)) return;
  for (const name of Object.keys(properties)) checkReadable(name, [...path, "properties", name]);
};

export const checkParameters = (schema: JsonObject): void => {
  checkObjectSchema(schema);
  walkSchema(schema, checkArrayItems, ITEMS_RULE_REACH);
  walkSchema(schema, (node, path) => {
    checkReferences(node, path);
    checkTexts(node, path);
  });
};
