// From an upload to a tool definition: every rule it must pass before it is registered.
// PD1. The outcome is canonical: aliases resolved, absent parts filled with their empty value, frozen, shared with no other
//     object.
// PD2. Every mistake is `bad_request` that names the key (`payload_too_large` for size); nothing is silently dropped (W-30).
// PD3. A definition that passes can be called: its schema compiles, its templates are known, its subject reaches a tool.

import { z } from "zod";
import { parseWith } from "../errors/parse-with.ts";
import { ToolplaneError } from "../errors/toolplane-error.ts";
import { jsonObject } from "../json/json-schemas.ts";
import type { JsonObject } from "../json/json-value.ts";
import { AFTER_EXECUTIONS } from "../results/value-sets.ts";
import { checkOptions, foldOptionAliases, uploadOptionsSchema } from "./check-options.ts";
import { hasFreeKeys } from "./closed-keys.ts";
import { type ToolDefinition, toolDescription } from "./definition.ts";
import type { AllowEnv } from "./env-name.ts";
import { codePointName, findHiddenCharacter } from "./hidden-characters.ts";
import { relaxParameters } from "./managed-parameters.ts";
import type { ToolOptions } from "./options.ts";
import { type CompileSchema, checkParameters, type ValidateValue } from "./parameters-schema.ts";
import { checkTargetSubject } from "./target-subject.ts";
import { parseToolName } from "./tool-name.ts";
import { copyUpload, freezeDeep, refusal } from "./upload.ts";

/** The largest definitions seen are generated from OpenAPI and stay under 100 kB; a model could not read more anyway. */
const DEFINITION_CAPS = { maxBytes: 256 * 1024, maxDepth: 48, dropsProto: hasFreeKeys } as const;

const WHAT = "tool definition";

/** An empty key in YAML is null; for the optional parts that means "not given". */
export const toolUploadSchema = z.strictObject({
  tool_name: z.string().optional(),
  name: z.string().optional(),
  description: toolDescription.nullish(),
  parameters: jsonObject.nullish(),
  target_subject: z.string().min(1),
  after_execution: z.enum(AFTER_EXECUTIONS),
  options: uploadOptionsSchema.nullish(),
});

export interface ParseToolDefinitionOptions {
  /** The project it is registered in. */
  readonly projectId: string;
  /** The active protocol version. */
  readonly version: string;
  readonly compileSchema: CompileSchema;
  /** Engine's own tools: built-in names and the project manager's subjects are allowed. */
  readonly internal?: boolean;
  /** The operator's list of variables tools may name; without it only the system's own are refused. */
  readonly allowEnv?: AllowEnv;
}

const pickName = (upload: z.infer<typeof toolUploadSchema>, internal: boolean | undefined): string => {
  const given = upload.tool_name ?? upload.name;
  if (given === undefined) throw refusal(WHAT, ["tool_name"], "is required");
  const name = parseToolName(given, { internal });
  if (upload.name !== undefined && upload.name.trim() !== name) {
    throw refusal(WHAT, ["name"], "is another spelling of tool_name and must equal it");
  }
  return name;
};

const checkDescription = (text: string): void => {
  const hidden = findHiddenCharacter(text);
  if (hidden === undefined) return;
  const name = codePointName(hidden.codePoint);
  throw refusal(WHAT, ["description"], `invisible or bidi character ${name} at ${hidden.index}`);
};

const compile = (schema: JsonObject, compileSchema: CompileSchema): ValidateValue => {
  try {
    return compileSchema(schema);
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 500).toWellFormed() : "refused by the compiler";
    throw new ToolplaneError("bad_request", `parameters: not a valid JSON Schema: ${why}`, {
      detail: { path: "$.parameters" },
      cause: error,
    });
  }
};

/** What layered arguments are checked against: values of env-managed parameters appear only inside the executor. */
export const argumentsSchema = (definition: Pick<ToolDefinition, "parameters" | "options">): JsonObject => {
  const envs = Object.keys(definition.options.envs ?? {});
  return envs.length === 0 ? definition.parameters : relaxParameters(definition.parameters, new Set(envs));
};

export const compileArguments = (definition: ToolDefinition, compileSchema: CompileSchema): ValidateValue =>
  compile(argumentsSchema(definition), compileSchema);

/** The older version knows no lease, so its services are plain ones, and the definition says so. */
const servedPlainly = (options: ToolOptions): ToolOptions => {
  if (options.service === "leased")
    throw refusal(WHAT, ["options", "service"], "a payload-style service takes no lease; use plain, or leave it out");
  return { ...options, service: "plain" };
};

export const parseToolDefinition = (input: unknown, options: ParseToolDefinitionOptions): ToolDefinition => {
  const { projectId, version, compileSchema, internal, allowEnv } = options;
  const upload = parseWith(toolUploadSchema, copyUpload(input, WHAT, DEFINITION_CAPS), WHAT);
  const given = foldOptionAliases(upload.options ?? {});
  const isPayloadStyle = checkTargetSubject(upload.target_subject, { projectId, version, internal });
  const definition: ToolDefinition = {
    tool_name: pickName(upload, internal),
    description: upload.description ?? "",
    parameters: upload.parameters ?? {},
    target_subject: upload.target_subject,
    after_execution: upload.after_execution,
    options: isPayloadStyle ? servedPlainly(given) : given,
  };
  checkDescription(definition.description);
  checkParameters(definition.parameters);
  checkOptions(definition, { projectId, allowEnv });
  compile(definition.parameters, compileSchema);
  compileArguments(definition, compileSchema);
  return freezeDeep(definition);
};
