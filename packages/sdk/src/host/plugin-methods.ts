// From a request to the plugin's own function, and from what it returned to the value of the answer.

import { isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import { type HostParams, OPTIONAL_HOST_METHODS, REQUIRED_HOST_METHODS } from "@toolplane/protocol/host";
import type { Log } from "../ports/log.ts";
import { FAULT_TYPES, HostFault } from "./host-fault.ts";
import { toJson, toJsonObject } from "./plain-json.ts";
import type { EmitPart, HostPlugin, HostToolCall } from "./plugin.ts";
import type { Run } from "./run.ts";

export type PluginMethod = (typeof REQUIRED_HOST_METHODS)[number] | (typeof OPTIONAL_HOST_METHODS)[number];

const METHODS: ReadonlySet<string> = new Set([...REQUIRED_HOST_METHODS, ...OPTIONAL_HOST_METHODS]);

export const isPluginMethod = (method: string): method is PluginMethod => METHODS.has(method);

/** The plugin's function for each method; a method without one is answered as unknown. */
const FUNCTIONS = {
  init: "init",
  get_tool_schemas: "getToolSchemas",
  execute_tool: "executeTool",
  get_config_schema: "getConfigSchema",
  get_ui_elements: "getUiElements",
  get_tags: "getTags",
  required_tags: "requiredTags",
  format_tool_result: "formatToolResult",
  format_tool_call_preview: "formatToolCallPreview",
  to_display_format: "toDisplayFormat",
} as const satisfies Record<PluginMethod, keyof HostPlugin>;

export const offers = (plugin: HostPlugin, method: PluginMethod): boolean =>
  method === "init" || typeof plugin[FUNCTIONS[method]] === "function";

type Params = HostParams<PluginMethod>;

/** What executeTool gets. A class, because an object with getters of its own costs as much as reading the request. */
class ToolCall implements HostToolCall {
  readonly toolName: string;
  readonly arguments: JsonObject;
  readonly state: JsonObject;
  readonly deadlineMs: number | undefined;
  readonly #run: Run;

  constructor(params: HostParams<"execute_tool">, run: Run) {
    this.toolName = params.tool_name;
    this.arguments = params.arguments;
    this.state = params.state;
    this.deadlineMs = params.deadline_ms;
    this.#run = run;
  }

  get emit(): EmitPart {
    return this.#run.emit;
  }

  get signal(): AbortSignal {
    return this.#run.signal;
  }

  get log(): Log {
    return this.#run.log;
  }
}

/** Calls the plugin. The answer may be a promise. */
export const callPlugin = (plugin: HostPlugin, method: PluginMethod, params: Params, run: Run): unknown => {
  switch (method) {
    case "execute_tool":
      return plugin.executeTool(new ToolCall(params as HostParams<"execute_tool">, run));
    case "init":
      return plugin.init?.((params as HostParams<"init">).config);
    case "get_tool_schemas":
      return plugin.getToolSchemas((params as HostParams<"get_tool_schemas">).state);
    case "format_tool_call_preview": {
      const { tool_name: toolName, ...about } = params as HostParams<"format_tool_call_preview">;
      return plugin.formatToolCallPreview?.({ toolName, ...about });
    }
    case "get_tags":
      return plugin.getTags?.(params as HostParams<"get_tags">);
    case "format_tool_result":
      return plugin.formatToolResult?.(params as HostParams<"format_tool_result">);
    case "to_display_format":
      return plugin.toDisplayFormat?.(params as HostParams<"to_display_format">);
    case "get_config_schema":
      return plugin.getConfigSchema?.();
    case "get_ui_elements":
      return plugin.getUiElements?.();
    case "required_tags":
      return plugin.requiredTags?.();
  }
};

export interface Answer {
  readonly value: JsonValue;
  readonly state: JsonObject | undefined;
}

const OUTCOME_FORM = "executeTool must return {success: true, result} or {success: false, error}";

const readOutcome = (returned: unknown, given: JsonObject | undefined): Answer => {
  if (!isRecord(returned) || typeof returned.success !== "boolean")
    throw new HostFault(FAULT_TYPES.result, OUTCOME_FORM);
  const { success, result, error, state = given } = returned;
  const outcome = success ? { success, result: result ?? null } : { success, error: error ?? null };
  return {
    value: toJson(outcome, "the value of executeTool"),
    state: state === undefined ? undefined : toJsonObject(state, "the state"),
  };
};

/** What the plugin returned, as the answer's value and state. */
export const readReturned = (method: PluginMethod, returned: unknown, given: JsonObject | undefined): Answer => {
  if (method === "execute_tool") return readOutcome(returned, given);
  if (method === "init") {
    const state = toJsonObject(returned ?? {}, "the state");
    return { value: state, state };
  }
  return {
    value: toJson(returned ?? null, `the value of ${FUNCTIONS[method]}`),
    state: given === undefined ? undefined : toJsonObject(given, "the state"),
  };
};
