// A JSON Schema in short, for people: `{ name: string, tags?: string[] }`. Pure.

import { isRecord } from "@toolplane/protocol";
import type { JsonSchema } from "./json-schema.ts";

const REF = "#/components/schemas/";

const isName = (key: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(key);

const fieldsOf = ({ properties, required }: JsonSchema): readonly string[] => {
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(isRecord(properties) ? properties : {}).map(
    ([name, schema]) =>
      `${isName(name) ? name : JSON.stringify(name)}${needed.includes(name) ? "" : "?"}: ${shapeText(schema)}`,
  );
};

const objectText = (schema: JsonSchema): string => {
  const fields = fieldsOf(schema);
  if (fields.length > 0) return `{ ${fields.join(", ")} }`;
  const { additionalProperties: rest } = schema;
  return isRecord(rest) && Object.keys(rest).length > 0 ? `{ [name]: ${shapeText(rest)} }` : "object";
};

const itemsText = (items: unknown): string => {
  const text = shapeText(items);
  return text.includes(" | ") ? `(${text})[]` : `${text}[]`;
};

const typeText = (schema: JsonSchema): string => {
  const { type, format } = schema;
  if (Array.isArray(type)) return type.map((one) => typeText({ ...schema, type: one })).join(" | ");
  if (type === "array") return itemsText(schema.items);
  if (type === "object") return objectText(schema);
  if (type === "string" && format === "date-time") return "time";
  return typeof type === "string" ? type : "any";
};

export const shapeText = (schema: unknown): string => {
  if (!isRecord(schema)) return "any";
  const { $ref, enum: words, const: word, anyOf, oneOf, allOf } = schema;
  if (typeof $ref === "string") return $ref.slice(REF.length);
  if (Array.isArray(words)) return words.map((one) => JSON.stringify(one)).join(" | ");
  if (word !== undefined) return JSON.stringify(word);
  const several = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(several)) return several.map(shapeText).join(" | ");
  if (Array.isArray(allOf)) return allOf.map(shapeText).join(" & ");
  return typeText(schema);
};
