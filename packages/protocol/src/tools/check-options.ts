// Rules of options that need more than the shape of one key: aliases, templates, variable names, and parameters that
// differ only by case from one the author manages (SEC-8).

import type { z } from "zod";
import type { JsonObject } from "../json/json-value.ts";
import type { ToolDefinition } from "./definition.ts";
import { checkEnvName, type EnvScope } from "./env-name.ts";
import { foldName } from "./fold-name.ts";
import { referencedParameter } from "./managed-parameters.ts";
import { type ToolOptions, toolOptionsSchema } from "./options.ts";
import { isJsonObject } from "./schema-walk.ts";
import { parseTemplate } from "./template.ts";
import { refusal } from "./upload.ts";

const WHAT = "tool definition";

/** The earlier name of the limit, from before run time and waiting time were separate. */
export const uploadOptionsSchema = toolOptionsSchema.extend({
  suspend_timeout_seconds: toolOptionsSchema.shape.timeout_seconds,
});

export const foldOptionAliases = (upload: z.infer<typeof uploadOptionsSchema>): ToolOptions => {
  const { suspend_timeout_seconds: alias, ...options } = upload;
  if (alias === undefined) return options;
  if (options.timeout_seconds !== undefined && options.timeout_seconds !== alias) {
    const message = "is another spelling of timeout_seconds and must equal it";
    throw refusal(WHAT, ["options", "suspend_timeout_seconds"], message);
  }
  return { ...options, timeout_seconds: alias };
};

const checkTemplates = (values: JsonObject | undefined, at: string): void => {
  for (const [name, value] of Object.entries(values ?? {})) {
    if (typeof value === "string") parseTemplate(value, `${at}.${name}`);
  }
};

const checkEnvs = ({ envs, jina, openapi }: ToolOptions, scope: EnvScope): void => {
  for (const [parameter, name] of Object.entries(envs ?? {})) checkEnvName(name, `options.envs.${parameter}`, scope);
  const auth = openapi?.auth;
  const named = [
    ["options.jina.auth_env", jina?.auth_env],
    ["options.openapi.auth_env", openapi?.auth_env],
    ["options.openapi.auth.env", isJsonObject(auth) ? auth.env : undefined],
  ] as const;
  for (const [at, name] of named) {
    if (typeof name === "string") checkEnvName(name, at, scope);
  }
};

const propertyNames = (parameters: JsonObject): readonly string[] => {
  const properties = parameters.properties;
  return isJsonObject(properties) ? Object.keys(properties) : [];
};

/** A caller's `ID` must not be able to stand beside the author's fixed `id`: some upstreams read both as one. */
const checkSpellings = ({ parameters, options }: ToolDefinition): void => {
  const managed = [...Object.keys(options.args?.fixed ?? {}), ...Object.keys(options.envs ?? {})];
  const byFold = new Map(managed.map((name) => [foldName(name), name]));
  const all = [...propertyNames(parameters), ...Object.keys(options.args?.defaults ?? {}), ...managed];
  for (const name of all) {
    const twin = byFold.get(foldName(name));
    if (twin !== undefined && twin !== name) {
      const message = `parameters ${JSON.stringify(name)} and ${JSON.stringify(twin)} differ only by case or form`;
      throw refusal(WHAT, ["options"], message);
    }
  }
};

/** Behind a reference the parameter could neither be hidden from a model nor removed from the required ones. */
const checkReferenced = ({ parameters, options }: ToolDefinition): void => {
  const managed = new Set([...Object.keys(options.args?.fixed ?? {}), ...Object.keys(options.envs ?? {})]);
  const found = managed.size === 0 ? undefined : referencedParameter(parameters, managed);
  if (found === undefined) return;
  const message = `${JSON.stringify(found)} stands behind a reference; describe parameters that options manage in place`;
  throw refusal(WHAT, ["parameters"], message);
};

/** With a closed schema such a value would fail every call, so the registration is refused. */
const checkDeclared = ({ parameters, options }: ToolDefinition): void => {
  if (parameters.additionalProperties !== false || parameters.patternProperties !== undefined) return;
  const declared = new Set(propertyNames(parameters));
  const envs = options.envs ?? {};
  for (const kind of ["defaults", "fixed"] as const) {
    for (const name of Object.keys(options.args?.[kind] ?? {})) {
      if (declared.has(name) || Object.hasOwn(envs, name)) continue;
      const message = "is not in parameters.properties, and additionalProperties is false";
      throw refusal(WHAT, ["options", "args", kind, name], message);
    }
  }
};

/** Without its parameter a tool would ask and never get an answer. */
const checkInput = ({ parameters, options: { input } }: ToolDefinition): void => {
  if (input === undefined || propertyNames(parameters).includes(input)) return;
  throw refusal(WHAT, ["options", "input"], `${JSON.stringify(input)} is not in parameters.properties`);
};

export const checkOptions = (definition: ToolDefinition, scope: EnvScope): void => {
  checkTemplates(definition.options.args?.defaults, "options.args.defaults");
  checkTemplates(definition.options.args?.fixed, "options.args.fixed");
  checkEnvs(definition.options, scope);
  checkSpellings(definition);
  checkDeclared(definition);
  checkReferenced(definition);
  checkInput(definition);
};
