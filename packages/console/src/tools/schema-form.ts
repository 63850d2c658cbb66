// A form from a JSON Schema, and arguments from what was typed into it. What a form cannot say (lists, objects, alternatives) is
// typed as JSON. The server checks the arguments again: this only catches what can be said at the field. Pure.
//   Numbers and JSON leave as they were typed: reading and writing them again would drop the first of two members of one name, which the
//   server refuses, and the last digits of a long number.

import { isRecord } from "../api/problem.ts";

export type FieldKind = "text" | "secret" | "number" | "integer" | "boolean" | "choice" | "json";

export interface FormField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly note: string;
  readonly isRequired: boolean;
  /** As text that means the value: of a choice, the JSON of each value. */
  readonly choices: readonly string[];
  readonly initial: string;
  readonly least: number | undefined;
  readonly most: number | undefined;
}

/** The whole of the arguments as one JSON text: for schemas without named parameters. */
export const WHOLE = "";

const typeOf = (schema: Readonly<Record<string, unknown>>): string => {
  const { type } = schema;
  if (typeof type === "string") return type;
  const names = Array.isArray(type) ? type.filter((name) => name !== "null") : [];
  return names.length === 1 ? String(names[0]) : "";
};

const kindOf = (schema: Readonly<Record<string, unknown>>): FieldKind => {
  if (Array.isArray(schema.enum) || "const" in schema) return "choice";
  switch (typeOf(schema)) {
    case "string":
      return schema.writeOnly === true || schema.format === "password" ? "secret" : "text";
    case "number":
      return "number";
    case "integer":
      return "integer";
    case "boolean":
      return "boolean";
    default:
      return "json";
  }
};

const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

const textOf = (kind: FieldKind, value: unknown): string => {
  if (value === undefined) return "";
  if (kind === "choice" || kind === "json") return JSON.stringify(value, null, 2) ?? "";
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
};

const initialOf = (kind: FieldKind, schema: Readonly<Record<string, unknown>>): string => {
  if (schema.default !== undefined) return textOf(kind, schema.default);
  const [example] = Array.isArray(schema.examples) ? (schema.examples as readonly unknown[]) : [];
  return textOf(kind, example);
};

const choicesOf = (schema: Readonly<Record<string, unknown>>): readonly string[] => {
  const values: readonly unknown[] = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const] : [];
  return values.map((value) => JSON.stringify(value, null, 2) ?? "null");
};

export const planForm = (parameters: unknown): readonly FormField[] => {
  const properties = isRecord(parameters) && isRecord(parameters.properties) ? parameters.properties : {};
  const required = isRecord(parameters) && Array.isArray(parameters.required) ? parameters.required : [];
  const fields = Object.entries(properties).map(([name, schema]): FormField => {
    const given = isRecord(schema) ? schema : {};
    const kind = kindOf(given);
    return {
      name,
      kind,
      note: typeof given.description === "string" ? given.description : "",
      isRequired: required.includes(name),
      choices: choicesOf(given),
      initial: initialOf(kind, given),
      least: numberOf(given.minimum),
      most: numberOf(given.maximum),
    };
  });
  // What a call needs comes first.
  if (fields.length > 0) return fields.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
  const whole = {
    name: WHOLE,
    kind: "json",
    note: "Any JSON object",
    isRequired: false,
    choices: [],
    initial: "{}",
  } as const;
  return [{ ...whole, least: undefined, most: undefined }];
};

/** `json`: the value as JSON text. */
type Read = { readonly json: string } | { readonly wrong: string } | undefined;

/** As JSON writes a number: `Number` would take 0x10, +1 and Infinity too. */
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

const readNumber = ({ kind, least, most }: FormField, text: string): Read => {
  const value = Number(text);
  if (!JSON_NUMBER.test(text) || !Number.isFinite(value)) return { wrong: "Write a number, such as 3 or 0.5." };
  if (kind === "integer" && !Number.isInteger(value)) return { wrong: "Write a whole number." };
  if (least !== undefined && value < least) return { wrong: `Write ${least} or more.` };
  if (most !== undefined && value > most) return { wrong: `Write ${most} or less.` };
  return { json: text };
};

const readJson = (text: string): Read => {
  try {
    JSON.parse(text);
    return { json: text };
  } catch (error) {
    return { wrong: `This is not JSON: ${error instanceof Error ? error.message : "it cannot be read"}` };
  }
};

/** Undefined: the field is left out. */
const readField = (field: FormField, written: string | undefined): Read => {
  const text = written ?? field.initial;
  const left = field.isRequired ? { wrong: "This is needed." } : undefined;
  if (field.kind === "text" || field.kind === "secret") {
    if (text !== "") return { json: JSON.stringify(text) };
    // A person who wrote something and removed it wants the empty text.
    return field.isRequired && written !== undefined ? { json: '""' } : left;
  }
  if (text.trim() === "") return left;
  if (field.kind === "number" || field.kind === "integer") return readNumber(field, text.trim());
  return readJson(text);
};

export interface FormReading {
  /** The arguments as JSON text. */
  readonly json: string;
  /** By the name of the field. */
  readonly wrong: Readonly<Record<string, string>>;
}

export const readForm = (fields: readonly FormField[], texts: Readonly<Record<string, string>>): FormReading => {
  const members: string[] = [];
  const wrong: Record<string, string> = {};
  let whole: string | undefined;
  for (const field of fields) {
    const read = readField(field, Object.hasOwn(texts, field.name) ? texts[field.name] : undefined);
    if (read === undefined) continue;
    if ("wrong" in read) wrong[field.name] = read.wrong;
    else if (field.name !== WHOLE) members.push(`${JSON.stringify(field.name)}:${read.json}`);
    else if (isRecord(JSON.parse(read.json))) whole = read.json;
    else wrong[field.name] = "The arguments are an object: write { ... }.";
  }
  return { json: whole ?? `{${members.join(",")}}`, wrong };
};
