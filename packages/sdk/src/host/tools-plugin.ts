// Tools made with defineTool as the plugin of a host: every method of the protocol derived from their definitions.

import { isRecord, type JsonObject, type JsonValue, ToolplaneError, UsageError } from "@toolplane/protocol";
import { previewJson } from "../runner/preview.ts";
import { createEnvSecrets, injectSecrets, planSecrets, readSecrets } from "../secrets/secret-source.ts";
import type { Tool, ToolContext } from "../tools/define-tool.ts";
import { PreparedResult } from "../tools/tool-result.ts";
import type { HostOutcome, HostPlugin, HostToolCall } from "./plugin.ts";

/** A preview is one line for a person. */
const PREVIEW_CHARS = 200;

const textOf = (value: JsonValue): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The parent may pass the whole outcome or only its result. */
const innerOf = (result: JsonValue): JsonValue => {
  if (!isRecord(result) || typeof result.success !== "boolean") return result;
  return ((result.success ? result.result : result.error) ?? null) as JsonValue;
};

/** The host protocol does not carry these values; a made-up value would be worse than an error. */
const untold = (what: string): never => {
  throw new UsageError(`${what} is not known in a tool host: serve the tool with serveTools where it needs it`);
};

const contextOf = (call: HostToolCall, secrets: ReadonlyMap<string, string>): ToolContext => ({
  get signal() {
    return call.signal;
  },
  emit: (part) => void call.emit(part),
  get log() {
    return call.log;
  },
  secrets: Object.fromEntries(secrets),
  heartbeat: async () => {},
  get idempotencyKey() {
    return untold("the idempotency key");
  },
  get call() {
    return untold("the call");
  },
});

const isToolError = (error: unknown): error is Error =>
  error instanceof Error && (error.name === "ToolError" || error instanceof ToolplaneError);

const outcomeOf = (returned: unknown): HostOutcome => {
  if (!(returned instanceof PreparedResult)) return { success: true, result: returned };
  const { status, result, error, sessionState: state } = returned.fields;
  return status === "success" ? { success: true, result, state } : { success: false, error: error ?? status };
};

const runTool = async (tool: Tool, call: HostToolCall): Promise<HostOutcome> => {
  try {
    const needs = planSecrets({ secrets: tool.secrets, envs: tool.options.envs ?? {} }, {});
    const secrets = await readSecrets(needs, createEnvSecrets(process.env));
    return outcomeOf(await tool.run(injectSecrets(call.arguments, needs, secrets), contextOf(call, secrets)));
  } catch (error) {
    // The tool refused with words meant for the caller; any other error is a fault of the tool itself.
    if (isToolError(error)) return { success: false, error: error.message };
    throw error;
  }
};

const NO_CONFIG: JsonObject = { type: "object", properties: {}, additionalProperties: false };

export const createToolsPlugin = (tools: readonly Tool[]): HostPlugin => {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw new UsageError(`two tools are named ${tool.name}`);
    byName.set(tool.name, tool);
  }
  return {
    init: () => ({}),
    getToolSchemas: () => tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    executeTool(call) {
      const tool = byName.get(call.toolName);
      return tool === undefined
        ? { success: false, error: `there is no tool ${call.toolName} here` }
        : runTool(tool, call);
    },
    getConfigSchema: () => NO_CONFIG,
    getUiElements: () => [],
    getTags: () => [],
    requiredTags: () => [],
    formatToolResult: ({ result }) => textOf(innerOf(result)),
    formatToolCallPreview: ({ toolName, arguments: given }) => `${toolName}(${previewJson(given, PREVIEW_CHARS).text})`,
    toDisplayFormat: ({ text, result }) => ({ text: text === "" ? textOf(innerOf(result)) : text }),
  };
};
