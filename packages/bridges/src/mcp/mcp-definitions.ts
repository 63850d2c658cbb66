// The tools of an MCP server as definitions of the plane. Pure: what the server lists goes in, uploads come out.
//   - A tool is `{server}__{tool}` unless a prefix says otherwise; a character that our names do not have becomes `_`.
//   - A tool that cannot be registered (its name, schema or description) is named with the reason and left out.
//   - What the operator decides is not the server's to say: a tool is `retry: safe` by the server's hints only if the configuration
//     trusts them.

import {
  definitionHash,
  type HashText,
  isRecord,
  type JsonObject,
  PROTOCOL_VERSION,
  type ToolDefinition,
  type ToolOptions,
  understandError,
} from "@toolplane/protocol";
import { type CompileSchema, parseToolDefinition, toolSubjectTemplate } from "@toolplane/protocol/registry";

/** A tool as the server lists it: nothing of it has been checked. */
export interface ListedMcpTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

export interface McpToolsOptions {
  readonly server: string;
  readonly projectId: string;
  readonly prefix?: string | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly trustHints: boolean;
  readonly isWanted: (tool: string) => boolean;
}

export interface DefinedMcpTool {
  /** As the server calls it. */
  readonly mcpTool: string;
  readonly definition: ToolDefinition;
  readonly definitionHash: string;
}

export interface RefusedMcpTool {
  readonly name: string;
  readonly reason: string;
}

export interface DefinedMcpTools {
  readonly tools: readonly DefinedMcpTool[];
  readonly refused: readonly RefusedMcpTool[];
  /** Tools that the configuration's patterns leave out. */
  readonly leftOut: readonly string[];
}

export const mcpTarget = (server: string): string => `mcp_${server}`;

const ourName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/gu, "_");

const hint = (annotations: ListedMcpTool["annotations"], name: string): boolean | undefined =>
  typeof annotations?.[name] === "boolean" ? annotations[name] : undefined;

const annotationsOf = ({ annotations }: ListedMcpTool): NonNullable<ToolOptions["annotations"]> => {
  const hints = {
    read_only: hint(annotations, "readOnlyHint"),
    destructive: hint(annotations, "destructiveHint"),
    idempotent: hint(annotations, "idempotentHint"),
    open_world: hint(annotations, "openWorldHint"),
  };
  return Object.fromEntries(Object.entries(hints).filter(([, value]) => value !== undefined));
};

const isSafe = ({ annotations }: ListedMcpTool): boolean =>
  annotations?.readOnlyHint === true || annotations?.idempotentHint === true;

const titleOf = ({ title, annotations }: ListedMcpTool): string | undefined => {
  const said = title ?? annotations?.title;
  return typeof said === "string" && said.trim() !== "" ? said.slice(0, 256).toWellFormed() : undefined;
};

const optionsOf = (tool: ListedMcpTool, given: McpToolsOptions): ToolOptions => {
  const annotations = annotationsOf(tool);
  const title = titleOf(tool);
  return {
    pin: "strict",
    ...(given.timeoutSeconds === undefined ? {} : { timeout_seconds: given.timeoutSeconds }),
    ...(given.trustHints && isSafe(tool) ? { retry: "safe" as const } : {}),
    ...(title === undefined ? {} : { title }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    ...(isRecord(tool.outputSchema) ? { output_schema: tool.outputSchema as JsonObject } : {}),
  };
};

const schemaOf = ({ inputSchema }: ListedMcpTool): JsonObject => {
  // The name of the dialect is not part of the schema itself.
  const { $schema: _dialect, ...schema } = isRecord(inputSchema) ? (inputSchema as JsonObject) : {};
  return schema;
};

const defineOne = (
  tool: ListedMcpTool,
  given: McpToolsOptions,
  means: { readonly compileSchema: CompileSchema; readonly sha256: HashText },
): DefinedMcpTool => {
  const action = ourName(tool.name);
  const definition = parseToolDefinition(
    {
      tool_name: `${given.prefix ?? `${given.server}__`}${action}`,
      description: tool.description ?? "",
      parameters: schemaOf(tool),
      target_subject: toolSubjectTemplate(mcpTarget(given.server), action),
      after_execution: "suspend",
      options: optionsOf(tool, given),
    },
    { projectId: given.projectId, version: PROTOCOL_VERSION, compileSchema: means.compileSchema },
  );
  return { mcpTool: tool.name, definition, definitionHash: definitionHash(definition, means.sha256) };
};

export const defineMcpTools = (
  listed: readonly ListedMcpTool[],
  given: McpToolsOptions,
  means: { readonly compileSchema: CompileSchema; readonly sha256: HashText },
): DefinedMcpTools => {
  const tools = new Map<string, DefinedMcpTool>();
  const refused: RefusedMcpTool[] = [];
  const leftOut: string[] = [];
  for (const tool of listed) {
    if (!given.isWanted(tool.name)) {
      leftOut.push(`${given.prefix ?? `${given.server}__`}${ourName(tool.name)}`);
      continue;
    }
    try {
      const defined = defineOne(tool, given, means);
      const name = defined.definition.tool_name;
      const other = tools.get(name);
      if (other === undefined) tools.set(name, defined);
      else refused.push({ name: tool.name, reason: `${other.mcpTool} has the same name here: ${name}` });
    } catch (error) {
      refused.push({ name: tool.name, reason: understandError(error, { keepMessage: true }).message });
    }
  }
  return { tools: [...tools.values()], refused, leftOut };
};
