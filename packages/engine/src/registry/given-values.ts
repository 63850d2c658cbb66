// The values that a definition gives itself (`args.fixed`, `args.defaults`) must be values that its own schema takes. Otherwise the
// call that gets such a value fails, whatever its caller sends.

import {
  isRecord,
  isToolplaneError,
  type JsonObject,
  type JsonValue,
  type ToolDefinition,
  ToolplaneError,
} from "@toolplane/protocol";
import { parseTemplate, renderTemplate, type SchemaIssue } from "@toolplane/protocol/registry";

export type CheckValue = (schema: JsonObject, value: unknown) => Promise<readonly SchemaIssue[]>;

/** Rules about the arguments as a whole: they say nothing about one value. */
const ABOUT_ALL: ReadonlySet<string> = new Set([
  "required",
  "additionalProperties",
  "unevaluatedProperties",
  "patternProperties",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "enum",
  "const",
]);

/** The parameters without those rules; what a schema may refer to stays. */
const eachParameter = ({ parameters }: ToolDefinition): JsonObject =>
  Object.fromEntries(Object.entries(parameters).filter(([keyword]) => !ABOUT_ALL.has(keyword)));

const propertyOf = ({ parameters: { properties } }: ToolDefinition, name: string): unknown =>
  isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;

/** What is known of a text with places for ids before a call fills them: that it is a text. */
const typeOnly = (definition: ToolDefinition, name: string): JsonObject => {
  const property = propertyOf(definition, name);
  const type = isRecord(property) ? property.type : undefined;
  return { properties: { [name]: type === undefined ? {} : { type: type as JsonValue } } };
};

/** The first reason why the schema of a parameter does not take a value; undefined: it does. */
export const valueIssue = async (
  definition: ToolDefinition,
  name: string,
  value: JsonValue,
  check: CheckValue,
): Promise<SchemaIssue | undefined> => {
  if (propertyOf(definition, name) === undefined) return undefined;
  const isOpen = typeof value === "string" && parseTemplate(value, name).length > 0;
  const given =
    typeof value === "string" && !isOpen ? renderTemplate(value, { at: name, values: {}, allowNull: [] }) : value;
  try {
    const schema = isOpen ? typeOnly(definition, name) : eachParameter(definition);
    return (await check(schema, { [name]: given }))[0];
  } catch (error) {
    // A reference into one of the rules that were left out; the call checks the value.
    if (isToolplaneError(error) && error.code === "bad_request") return undefined;
    throw error;
  }
};

/** Throws `bad_request` that names the key. A value that is never used, because another layer replaces it, is not looked at. */
export const checkGivenValues = async (definition: ToolDefinition, check: CheckValue): Promise<void> => {
  const { args = {}, envs = {} } = definition.options;
  const { fixed = {}, defaults = {} } = args;
  const given = [
    ...Object.entries(fixed).map(([name, value]) => ["fixed", name, value] as const),
    ...Object.entries(defaults)
      .filter(([name]) => !Object.hasOwn(fixed, name))
      .map(([name, value]) => ["defaults", name, value] as const),
  ];
  for (const [layer, name, value] of given) {
    const issue = Object.hasOwn(envs, name) ? undefined : await valueIssue(definition, name, value, check);
    if (issue === undefined) continue;
    const key = `options.args.${layer}.${name}`;
    const message = `${key} is not a value that parameters.properties.${name} takes: ${issue.path} ${issue.message}; correct one of the two`;
    throw new ToolplaneError("bad_request", message, { detail: { path: `$.${key}` } });
  }
};
