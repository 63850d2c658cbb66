// The executor of an MCP server's tools: one tools/call per call. The server's answer is data: it is stored as it came, a model
// reads its text between the marks of foreign text, and control keys in it have no effect (I11).

import { ProtocolError, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { isRecord, type JsonObject, type JsonValue, resolveOptions, ToolplaneError } from "@toolplane/protocol";
import { type Executor, ToolError, type ToolProfile, toolResult } from "@toolplane/sdk";
import type { DefinedMcpTool } from "./mcp-definitions.ts";
import type { McpCallAnswer, McpLink } from "./mcp-link.ts";

export interface McpExecutorOptions {
  readonly server: string;
  readonly link: Pick<McpLink, "callTool">;
  readonly tools: () => readonly DefinedMcpTool[];
  readonly now: () => number;
  /** Why a tool may not run: what the server offers is not what a person accepted. */
  readonly whyChanged: (tool: DefinedMcpTool) => Promise<ToolplaneError | undefined>;
}

const profileOf = ({ definition }: DefinedMcpTool): ToolProfile => {
  const { retry, timeoutSeconds } = resolveOptions(definition.options);
  // The pin is checked in `execute`, which says what has changed.
  return { retry, timeoutSeconds, pin: "record", control: "strip", secrets: [], envs: {} };
};

const textOf = (content: readonly JsonObject[]): string =>
  content
    .map((block) => {
      if (typeof block.text === "string") return block.text;
      const resource = block.resource as JsonObject | undefined;
      if (typeof resource?.text === "string") return resource.text;
      return `[${String(block.type)}${typeof block.mimeType === "string" ? ` ${block.mimeType}` : ""}]`;
    })
    .join("\n");

const resultOf = ({ content, structuredContent }: McpCallAnswer): JsonObject => ({
  content: content as readonly JsonValue[] as JsonValue[],
  ...(structuredContent === undefined ? {} : { structuredContent: structuredContent as JsonValue }),
});

const ELICITATION_TODO =
  "if its question is a form with defaults, set elicitation: defaults for the server in toolplane.yaml";

const askedFor = ({ data }: SdkError): string =>
  isRecord(data) && typeof data.method === "string" ? data.method : "input";

/** What went wrong between the server and the SDK, in words for the caller. */
const understand = (server: string, error: unknown): unknown => {
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return new ToolplaneError("tool_timeout", `MCP server ${server} did not answer in time`, { cause: error });
  if (error instanceof ProtocolError)
    return new ToolError("tool_error", `MCP server ${server} refused the call: ${error.message}`, {
      detail: { code: error.code },
      cause: error,
    });
  if (error instanceof SdkError && error.code === SdkErrorCode.CapabilityNotSupported)
    return new ToolError(
      "tool_error",
      `MCP server ${server} asked for ${askedFor(error)} before it would answer, which is refused: Toolplane gives it no model, no person and no files`,
      { detail: { todo: ELICITATION_TODO }, cause: error },
    );
  // The SDK could not go on with the call: an answer against the protocol, or a question that no handler takes.
  if (error instanceof SdkError)
    return new ToolError("tool_error", `MCP server ${server}: ${error.message}`, {
      detail: { code: error.code },
      cause: error,
    });
  return error;
};

export const createMcpExecutor = ({ server, link, tools, now, whyChanged }: McpExecutorOptions): Executor => {
  const find = (toolName: string): DefinedMcpTool | undefined =>
    tools().find(({ definition }) => definition.tool_name === toolName);
  return {
    find: (toolName) => {
      const tool = find(toolName);
      return tool && profileOf(tool);
    },
    async execute(call, { signal, emit }) {
      const tool = find(call.toolName);
      if (tool === undefined)
        throw new ToolplaneError("not_found", `MCP server ${server} has no tool ${call.toolName}`);
      const changed = await whyChanged(tool);
      if (changed !== undefined) throw changed;
      let answer: McpCallAnswer;
      try {
        answer = await link.callTool({
          tool: tool.mcpTool,
          arguments: call.arguments,
          meta: { traceparent: call.traceparent },
          signal,
          timeoutMs: Math.max(1, call.deadline - now()),
          progress: (said) => emit(said),
        });
      } catch (error) {
        if (signal.aborted) throw new ToolplaneError("canceled", `the call to MCP server ${server} was canceled`);
        throw understand(server, error);
      }
      const text = textOf(answer.content);
      // A tool that failed may have failed because its question was declined: the caller is told both.
      if (answer.isError === true)
        throw new ToolError("tool_error", [text === "" ? "the tool failed" : text, ...answer.declined].join("; "));
      return toolResult({
        status: "success",
        result: resultOf(answer),
        views: { model: text, display: undefined, preview: undefined },
      });
    },
  };
};
