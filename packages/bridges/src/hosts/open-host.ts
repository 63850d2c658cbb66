// The first messages with a new process: hello, its config's schema, init, and its description.
//   OH1. The config is checked against the host's own schema before init gets it.
//   OH2. A method that the host lacks is "not offered"; an optional method that fails is reported and counts as not offered.
//   OH3. Only extensions that the host confirmed are used. An error means plain v1; silence or death means a new start as plain
//       v1.

import { isToolplaneError, type JsonObject, ToolplaneError } from "@toolplane/protocol";
import {
  agreedExtensions,
  HOST_EXTENSIONS,
  type HostExtension,
  type HostResponse,
  type HostTools,
  initialState,
  isNotOffered,
  type PlainHostMethod,
  type PlainHostValue,
  parseHostValue,
  readHostTools,
} from "@toolplane/protocol/host";
import type { SchemaIssue } from "@toolplane/protocol/registry";
import type { CheckSchema, HostDescription } from "./host.ts";

/** How much a host is known to understand. */
export type HostMode = "unknown" | "plain" | "extended";

export interface Talk {
  /** The host's answer; rejects when it died or did not answer within `timeoutMs` (the startup time unless given). */
  ask(method: string, params: JsonObject, timeoutMs?: number): Promise<HostResponse>;
  /** An optional method that failed. */
  report(message: string, output: string): void;
}

export interface OpenOptions {
  readonly name: string;
  readonly config: JsonObject;
  readonly mode: HostMode;
  readonly helloMs: number;
  readonly checkSchema: CheckSchema | undefined;
  /** Only the first process is asked what it offers. */
  readonly describe: boolean;
}

export interface OpenedHost {
  readonly extensions: readonly HostExtension[];
  readonly initState: JsonObject;
  readonly description: Omit<HostDescription, "pid"> | undefined;
}

/** Undefined: the host must be started again as plain v1. */
const sayHello = async (talk: Talk, options: OpenOptions): Promise<readonly HostExtension[] | undefined> => {
  if (options.mode === "plain") return [];
  try {
    const limit = options.mode === "unknown" ? options.helloMs : undefined;
    const response = await talk.ask("hello", { extensions: HOST_EXTENSIONS }, limit);
    return response.ok ? agreedExtensions(response.value) : [];
  } catch (error) {
    // An answer that breaks the protocol comes from a host that does not know hello.
    if (isToolplaneError(error) && error.code === "protocol_violation") return [];
    if (options.mode === "extended") throw error;
    return undefined;
  }
};

const askOptional = async <M extends PlainHostMethod>(
  talk: Talk,
  method: M,
  params: JsonObject,
): Promise<PlainHostValue<M> | undefined> => {
  const response = await talk.ask(method, params);
  if (!response.ok) {
    if (!isNotOffered(response)) talk.report(`${method} failed`, `${response.error.type}: ${response.error.detail}`);
    return undefined;
  }
  try {
    return parseHostValue(method, response.value);
  } catch (error) {
    talk.report(`${method} is left out`, isToolplaneError(error) ? error.message : "it cannot be read");
    return undefined;
  }
};

const MAX_ISSUES = 5;

const checkConfig = async (
  { name, config, checkSchema }: OpenOptions,
  schema: JsonObject | undefined,
): Promise<void> => {
  if (schema === undefined || checkSchema === undefined) return;
  let issues: readonly SchemaIssue[];
  try {
    issues = await checkSchema(schema, config);
  } catch (error) {
    const why = error instanceof Error ? error.message : "it was refused";
    throw new ToolplaneError("bad_request", `host ${name}: its config schema is not valid: ${why}`, { cause: error });
  }
  if (issues.length === 0) return;
  const shown = issues.slice(0, MAX_ISSUES).map(({ path, message }) => `${path} ${message}`);
  throw new ToolplaneError("bad_request", `host ${name}: its config does not fit its schema: ${shown.join("; ")}`, {
    detail: { host: name, issues: shown },
  });
};

const required = (name: string, method: string, response: HostResponse): Extract<HostResponse, { ok: true }> => {
  if (response.ok) return response;
  const { type, detail } = response.error;
  throw new ToolplaneError("upstream_unavailable", `host ${name}: ${method} failed: ${type}: ${detail}`, {
    detail: { host: name, method, type },
  });
};

/** Schemas that cannot be used to check a call are left out, by name. */
const checkTools = async ({ tools, refused }: HostTools, checkSchema: CheckSchema | undefined): Promise<HostTools> => {
  if (checkSchema === undefined) return { tools, refused };
  const faults = new Map<string, string>();
  for (const { name, parameters } of tools) {
    try {
      await checkSchema(parameters);
    } catch (error) {
      const why = error instanceof Error ? error.message.slice(0, 500).toWellFormed() : "it was refused";
      faults.set(name, `its parameters are not a valid JSON Schema: ${why}`);
    }
  }
  return {
    tools: tools.filter(({ name }) => !faults.has(name)),
    refused: [...refused, ...[...faults].map(([name, reason]) => ({ name, reason }))],
  };
};

const describe = async (
  talk: Talk,
  options: OpenOptions,
  known: { extensions: readonly HostExtension[]; initState: JsonObject; configSchema: JsonObject | undefined },
): Promise<Omit<HostDescription, "pid">> => {
  const { name, config, checkSchema } = options;
  const answer = required(name, "get_tool_schemas", await talk.ask("get_tool_schemas", { state: known.initState }));
  const { tools, refused } = await checkTools(readHostTools(answer.value), checkSchema);
  return {
    name,
    tools,
    refused,
    ...known,
    tags: await askOptional(talk, "get_tags", { config, models: [] }),
    requiredTags: await askOptional(talk, "required_tags", {}),
    uiElements: await askOptional(talk, "get_ui_elements", {}),
    protocolVersion: 1,
  };
};

/** Undefined when the host must be started again as plain v1. */
export const openHost = async (talk: Talk, options: OpenOptions): Promise<OpenedHost | undefined> => {
  const extensions = await sayHello(talk, options);
  if (extensions === undefined) return undefined;
  const configSchema = options.describe ? await askOptional(talk, "get_config_schema", {}) : undefined;
  await checkConfig(options, configSchema);
  const response = required(options.name, "init", await talk.ask("init", { config: options.config }));
  const initState = initialState(response);
  const description = options.describe
    ? await describe(talk, options, { extensions, initState, configSchema })
    : undefined;
  return { extensions, initState, description };
};
