// The answer to an MCP server that asks a person. No person sees the question: `defaults` sends the form as the server filled it in.
// Pure.
//   - Every required field needs a default that fits it, and at least one field has one. A form without any default asks for
//     consent, which only a person can give.
//   - Everything else is declined, with the reason. The server is told "decline"; the reason goes to the caller and to the log.

import { isRecord, type JsonValue } from "@toolplane/protocol";

/** `refuse`: the server is told that it cannot ask a person. */
export type ElicitationPolicy = "refuse" | "defaults";

export type ElicitationPlan =
  | { readonly action: "accept"; readonly content: Readonly<Record<string, string | number | boolean | string[]>> }
  | { readonly action: "decline"; readonly reason: string };

/** Characters of the names of fields, which the server chooses. */
const MAX_NAMES = 200;

const decline = (reason: string): ElicitationPlan => ({ action: "decline", reason });

const isText = (value: unknown): value is string => typeof value === "string";

const choicesOf = (field: Readonly<Record<string, unknown>>): readonly unknown[] | undefined => {
  if (Array.isArray(field.enum)) return field.enum;
  const titled = field.oneOf ?? field.anyOf;
  return Array.isArray(titled) ? titled.map((one: unknown) => (isRecord(one) ? one.const : undefined)) : undefined;
};

/** The default of a field, if it is one that the field itself allows. */
const defaultOf = (field: unknown): string | number | boolean | string[] | undefined => {
  if (!isRecord(field)) return undefined;
  const value = field.default as JsonValue | undefined;
  if (field.type === "boolean") return typeof value === "boolean" ? value : undefined;
  if (field.type === "number") return typeof value === "number" ? value : undefined;
  if (field.type === "integer") return Number.isInteger(value) ? (value as number) : undefined;
  if (field.type === "array") {
    const choices = isRecord(field.items) ? choicesOf(field.items) : undefined;
    const isFit = Array.isArray(value) && value.every((one) => isText(one) && choices?.includes(one) !== false);
    return isFit ? (value as string[]) : undefined;
  }
  return isText(value) && choicesOf(field)?.includes(value) !== false ? value : undefined;
};

export const planElicitation = (params: Readonly<Record<string, unknown>>): ElicitationPlan => {
  if (params.mode === "url") return decline("it wants a person to open an address");
  const schema = isRecord(params.requestedSchema) ? params.requestedSchema : {};
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const content = Object.fromEntries(
    Object.entries(properties).flatMap(([name, field]) => {
      const value = defaultOf(field);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  const required = Array.isArray(schema.required) ? schema.required.filter(isText) : [];
  const missing = required.filter((name) => !Object.hasOwn(content, name));
  if (missing.length > 0)
    return decline(
      `its form needs ${missing.join(", ").slice(0, MAX_NAMES).toWellFormed()}, which has no usable default`,
    );
  if (Object.keys(content).length === 0)
    return decline("no field of its form has a default, so only a person can agree");
  return { action: "accept", content };
};
