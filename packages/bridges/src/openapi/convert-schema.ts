// Schemas of OpenAPI as JSON Schema (2020-12), for the parameters of a tool.
//   CS1. A reference stays a reference: what it names becomes a member of `$defs`, converted once for the whole document. Cycles
//        therefore cost nothing, and the definition of an operation holds only what the operation needs.
//   CS2. Known keywords are kept, all others dropped. Properties that only a response has (`readOnly`) are left out.
//   CS3. The work is bounded: the depth of one schema, and how many schemas one operation needs.
//   CS4. A pattern that cannot be checked in linear time is dropped, and the API itself checks the value.

import { badRequest, type HashText, isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import { cleanText } from "./clean-text.ts";
import { type Located, type References, referenceIn } from "./references.ts";

export interface ConvertMeans {
  readonly references: References;
  /** OpenAPI 3.0: `nullable`, `exclusiveMinimum: true`, nothing beside `$ref`. */
  readonly isOld: boolean;
  readonly isLinear: (pattern: string) => boolean;
  readonly sha256: HashText;
}

export interface SchemaConverter {
  /** A schema whose references lead into `$defs`; `defs` says which members of it are needed. */
  convert(schema: Located<JsonValue | undefined>): ConvertedSchema;
  /** The members of `$defs` that these schemas need, directly or through each other. Throws when they are too many. */
  defsOf(schemas: readonly ConvertedSchema[]): JsonObject;
}

export interface ConvertedSchema {
  readonly schema: JsonValue;
  /** The places that it refers to, by their keys. */
  readonly needs: ReadonlyMap<string, Located>;
  /** How many schemas it consists of. */
  readonly size: number;
}

/** The registry's own limits are 1,000 schemas and a depth of 48, the definition around them included. */
const MAX_SCHEMAS = 950;
const MAX_DEPTH = 32;
const MAX_DESCRIPTION = 1_000;
const MAX_TITLE = 200;

const TYPES: ReadonlySet<string> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

/** Taken as they are. */
const PLAIN = [
  "format",
  "multipleOf",
  "maximum",
  "minimum",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "maxItems",
  "minItems",
  "uniqueItems",
  "maxContains",
  "minContains",
  "maxProperties",
  "minProperties",
  "dependentRequired",
  "const",
  "default",
  "contentEncoding",
  "contentMediaType",
] as const;
const SCHEMAS = [
  "items",
  "contains",
  "additionalProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "unevaluatedItems",
  "unevaluatedProperties",
] as const;
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"] as const;
const MAPS = ["properties", "patternProperties", "dependentSchemas"] as const;

/** `items` must say something; this says that every value will do. */
const ANY_VALUE: JsonObject = { description: "any JSON value" };

class Conversion {
  readonly needs = new Map<string, Located>();
  size = 0;
  readonly #means: ConvertMeans;
  readonly #nameOf: (key: string) => string;

  constructor(means: ConvertMeans, nameOf: (key: string) => string) {
    this.#means = means;
    this.#nameOf = nameOf;
  }

  schema(value: JsonValue | undefined, file: string, depth: number): JsonValue {
    this.size += 1;
    if (this.size > MAX_SCHEMAS) throw badRequest(`it needs more than ${MAX_SCHEMAS} schemas`);
    if (depth > MAX_DEPTH) throw badRequest(`a schema of it is deeper than ${MAX_DEPTH} levels`);
    if (typeof value === "boolean") return value ? {} : { not: {} };
    if (!isRecord(value) || Array.isArray(value)) return {};
    const node = value as JsonObject;
    const reference = referenceIn(node);
    if (reference === undefined) return this.#node(node, file, depth);
    const found = this.#means.references.find(reference, file);
    this.needs.set(found.key, found);
    const referred = { $ref: `#/$defs/${this.#nameOf(found.key)}` };
    if (this.#means.isOld) return referred;
    const { $ref: _, ...beside } = node;
    return { ...(this.#node(beside, file, depth) as JsonObject), ...referred };
  }

  #node(node: JsonObject, file: string, depth: number): JsonObject {
    const result: Record<string, JsonValue> = {};
    const deeper = (value: JsonValue | undefined): JsonValue => this.schema(value, file, depth + 1);
    const title = cleanText(node.title, MAX_TITLE);
    const description = cleanText(node.description, MAX_DESCRIPTION);
    if (title !== "") result.title = title;
    if (description !== "") result.description = description;
    for (const keyword of PLAIN) if (node[keyword] !== undefined) result[keyword] = node[keyword];
    for (const keyword of SCHEMAS) {
      const value = node[keyword];
      if (value !== undefined) result[keyword] = typeof value === "boolean" ? value : deeper(value);
    }
    for (const keyword of LISTS) {
      const value = node[keyword];
      if (Array.isArray(value) && value.length > 0) result[keyword] = value.map(deeper);
    }
    for (const keyword of MAPS) if (isRecord(node[keyword])) result[keyword] = this.#map(node, keyword, file, deeper);
    this.#type(node, result);
    this.#values(node, result, file);
    return this.#nullable(node, result);
  }

  #map(node: JsonObject, keyword: string, file: string, deeper: (value: JsonValue) => JsonValue): JsonObject {
    const { isLinear } = this.#means;
    const members = Object.entries(node[keyword] as JsonObject).filter(([name, member]) =>
      keyword === "patternProperties" ? isLinear(name) : keyword !== "properties" || !this.#isReadOnly(member, file),
    );
    // fromEntries defines members: a property named __proto__ stays a plain one.
    return Object.fromEntries(
      members.map(([name, member]) => [name, typeof member === "boolean" ? member : deeper(member)]),
    );
  }

  #isReadOnly(member: JsonValue, file: string): boolean {
    const { value } = this.#means.references.follow({ value: member, file });
    return isRecord(value) && (value as JsonObject).readOnly === true;
  }

  #type({ type }: JsonObject, result: Record<string, JsonValue>): void {
    const known = (Array.isArray(type) ? (type as readonly JsonValue[]) : [type]).filter(
      (name): name is string => typeof name === "string" && TYPES.has(name),
    );
    const [only] = known;
    if (only === undefined) return;
    result.type = known.length === 1 ? only : [...new Set(known)];
    const { items } = result;
    if (known.includes("array") && (!isRecord(items) || Object.keys(items as JsonObject).length === 0))
      result.items = ANY_VALUE;
  }

  #values(node: JsonObject, result: Record<string, JsonValue>, file: string): void {
    if (Array.isArray(node.enum) && node.enum.length > 0) result.enum = node.enum;
    if (typeof node.pattern === "string" && this.#means.isLinear(node.pattern)) result.pattern = node.pattern;
    if (!Array.isArray(node.required)) return;
    const properties = isRecord(node.properties) ? (node.properties as JsonObject) : {};
    const isSent = (name: JsonValue): name is string =>
      typeof name === "string" &&
      !(Object.hasOwn(properties, name) && this.#isReadOnly(properties[name] ?? null, file));
    const required = [...new Set((node.required as readonly JsonValue[]).filter(isSent))];
    if (required.length > 0) result.required = required;
  }

  /** What 3.0 says with booleans. */
  #nullable(node: JsonObject, result: Record<string, JsonValue>): JsonObject {
    for (const [flag, bound] of [
      ["exclusiveMinimum", "minimum"],
      ["exclusiveMaximum", "maximum"],
    ] as const) {
      if (typeof result[flag] !== "boolean") continue;
      const limit = result[bound];
      if (result[flag] && typeof limit === "number") {
        result[flag] = limit;
        delete result[bound];
      } else delete result[flag];
    }
    if (node.nullable !== true || !this.#means.isOld) return result;
    if (result.type === undefined) return { anyOf: [result, { type: "null" }] };
    result.type = [...(Array.isArray(result.type) ? (result.type as readonly JsonValue[]) : [result.type]), "null"];
    if (Array.isArray(result.enum)) result.enum = [...(result.enum as readonly JsonValue[]), null];
    return result;
  }
}

const COMPONENT = /^[^#]*#\/components\/schemas\/([A-Za-z0-9_.-]{1,60})$/u;

/** The name of a member of `$defs`. It depends on the place alone, so that a new schema elsewhere changes no definition. */
const nameWith =
  (sha256: HashText, rootFile: string) =>
  (key: string): string => {
    const component = key.startsWith(`${rootFile}#`) ? COMPONENT.exec(key)?.[1] : undefined;
    if (component !== undefined && component !== "__proto__") return component;
    const tail = (key.split("/").at(-1) ?? "").replace(/[^A-Za-z0-9]+/gu, "_").slice(0, 40);
    return `${tail}_${sha256(key).slice(0, 8)}`;
  };

export const createSchemaConverter = (means: ConvertMeans): SchemaConverter => {
  const nameOf = nameWith(means.sha256, means.references.root.file);
  const known = new Map<string, ConvertedSchema>();

  const convert: SchemaConverter["convert"] = ({ value, file }) => {
    const conversion = new Conversion(means, nameOf);
    const schema = conversion.schema(value, file, 0);
    return { schema, needs: conversion.needs, size: conversion.size };
  };

  const definitionOf = (key: string, place: Located): ConvertedSchema => {
    const made = known.get(key) ?? convert(place);
    known.set(key, made);
    return made;
  };

  return {
    convert,
    defsOf(schemas) {
      const defs = new Map<string, JsonValue>();
      let size = schemas.reduce((sum, one) => sum + one.size, 0);
      const waiting = schemas.flatMap(({ needs }) => [...needs]);
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const [key, place] = next;
        const name = nameOf(key);
        if (defs.has(name)) continue;
        const definition = definitionOf(key, place);
        defs.set(name, definition.schema);
        size += definition.size;
        if (size > MAX_SCHEMAS) throw badRequest(`it needs more than ${MAX_SCHEMAS} schemas`);
        waiting.push(...definition.needs);
      }
      return Object.fromEntries([...defs].sort(([one], [other]) => (one < other ? -1 : 1)));
    },
  };
};
