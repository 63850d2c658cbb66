// What a model is shown of a tool: the OpenAI function form, which every provider library reads. Parameters that the author
// manages are not in it: a model cannot fill, guess or leak what it never saw (SEC-8).

import type { ResultField } from "../cards/task-cards.ts";
import { copyJson } from "../json/json-copy.ts";
import type { JsonObject, JsonValue } from "../json/json-value.ts";
import type { ToolDefinition } from "./definition.ts";
import { omitParameters } from "./managed-parameters.ts";
import { isJsonObject } from "./schema-walk.ts";
import { SUBMIT_RESULT } from "./tool-name.ts";

export interface ModelToolSpec {
  readonly type: "function";
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonObject };
}

const spec = (name: string, description: string, parameters: JsonObject): ModelToolSpec => ({
  type: "function",
  // Some provider libraries edit the schema they get; the definition's own schema is frozen and shared.
  function: { name, description, parameters: copyJson(parameters) as JsonObject },
});

/** A default is shown as the author wrote it; its template is filled in only in a call. */
const showDefaults = (properties: JsonObject, defaults: JsonObject): JsonObject => {
  const shown: Record<string, JsonValue> = { ...properties };
  for (const [name, value] of Object.entries(defaults)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (isJsonObject(property) && !Object.hasOwn(property, "default")) shown[name] = { ...property, default: value };
  }
  return shown;
};

export const modelToolSpec = (definition: ToolDefinition): ModelToolSpec => {
  const { args, envs, input } = definition.options;
  const answers = input === undefined ? [] : [input];
  const managed = new Set([...Object.keys(args?.fixed ?? {}), ...Object.keys(envs ?? {}), ...answers]);
  const visible = omitParameters(definition.parameters, managed);
  const properties = isJsonObject(visible.properties) ? visible.properties : {};
  const parameters = { ...visible, type: "object", properties: showDefaults(properties, args?.defaults ?? {}) };
  return spec(definition.tool_name, definition.description, parameters);
};

const anyResult: JsonObject = {
  description: "The result: an object, or plain text.",
  anyOf: [{ type: "object", additionalProperties: true }, { type: "string" }],
};

/** A list of {name, value} and not a map: providers restrict property names, and field names may be any text. */
const fieldsResult = (fields: readonly ResultField[]): JsonObject => ({
  type: "object",
  properties: {
    fields: {
      type: "array",
      description: `One entry for each of: ${fields
        .map(({ name, description = "" }) => (description === "" ? name : `${name} (${description})`))
        .join("; ")}`,
      items: {
        type: "object",
        properties: {
          name: { type: "string", enum: fields.map(({ name }) => name) },
          value: { type: "string" },
        },
        required: ["name", "value"],
      },
      minItems: fields.length,
    },
  },
  required: ["fields"],
});

/** The built-in way for an agent to hand in its work; `requiredFields` come from the newest `task.result_fields` card. */
export const submitResultSpec = (requiredFields: readonly ResultField[] = []): ModelToolSpec =>
  spec(SUBMIT_RESULT, "Hand in the final result and end the turn. Call it alone, with no other tool.", {
    type: "object",
    properties: { result: requiredFields.length === 0 ? anyResult : fieldsResult(requiredFields) },
    required: ["result"],
  });
