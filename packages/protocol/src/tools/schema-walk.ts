// Visits every place of a JSON Schema where a schema may be. The position matters: `properties: {default: ...}` holds a schema,
// `default: {...}` holds data. A walker that confuses them misses a `$ref` or refuses an example.

import type { JsonPathSegment } from "../json/json-path.ts";
import { isRecord, type JsonObject, type JsonValue } from "../json/json-value.ts";

/** Keywords whose value maps names to schemas. */
const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies",
]);

/** Keywords whose value is data, whatever it looks like. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples", "example"]);

/** Keywords that stand for a schema elsewhere. */
export const REFERENCES = ["$ref", "$dynamicRef", "$recursiveRef"] as const;

export type SchemaPath = readonly JsonPathSegment[];
export type SchemaVisitor = (schema: JsonObject, path: SchemaPath) => void;

export const isJsonObject = (value: JsonValue | undefined): value is JsonObject => isRecord(value);

class SchemaWalk {
  readonly #visit: SchemaVisitor;
  readonly #follow: ReadonlySet<string> | undefined;
  readonly #path: JsonPathSegment[] = [];

  constructor(visit: SchemaVisitor, follow: ReadonlySet<string> | undefined) {
    this.#visit = visit;
    this.#follow = follow;
  }

  schema(schema: JsonObject): void {
    this.#visit(schema, this.#path);
    for (const [keyword, value] of Object.entries(schema)) {
      if (this.#follow === undefined ? DATA.has(keyword) : !this.#follow.has(keyword)) continue;
      this.#path.push(keyword);
      if (SCHEMA_MAPS.has(keyword) && isJsonObject(value)) {
        for (const [name, member] of Object.entries(value)) this.#member(name, member);
      } else {
        this.#value(value);
      }
      this.#path.pop();
    }
  }

  #member(key: JsonPathSegment, value: JsonValue): void {
    this.#path.push(key);
    this.#value(value);
    this.#path.pop();
  }

  #value(value: JsonValue): void {
    if (isJsonObject(value)) this.schema(value);
    else if (Array.isArray(value)) for (const [index, item] of value.entries()) this.#member(index, item);
  }
}

/**
 * Without `follow` unknown keywords are walked too, since a local `$ref` may point into them; with it, only those named.
 * The path is valid during the visit only. Depth is bounded by the copy every definition is made of.
 */
export const walkSchema = (schema: JsonObject, visit: SchemaVisitor, follow?: ReadonlySet<string>): void => {
  new SchemaWalk(visit, follow).schema(schema);
};
