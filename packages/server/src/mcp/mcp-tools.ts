// The tools of a project as an MCP client sees them: the same form a model gets, without what the author fixed or takes from the
// environment (SEC-8), only those that the caller's profile allows, and of these only those that the address asks for.

import type { Engine, RegisteredTool } from "@toolplane/engine";
import type { JsonObject, ToolDefinition, ToolOptions } from "@toolplane/protocol";
import { modelToolSpec } from "@toolplane/protocol/agents";
import { mayUseTool } from "@toolplane/protocol/registry";
import { boundAgent, type Who } from "../http/own.ts";

export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonObject & { readonly type: "object" };
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
}

const annotationsOf = ({ annotations, retry }: ToolOptions): JsonObject => {
  const hints = {
    readOnlyHint: annotations?.read_only,
    destructiveHint: annotations?.destructive,
    idempotentHint: annotations?.idempotent ?? (retry === "safe" ? true : undefined),
    openWorldHint: annotations?.open_world,
  };
  return Object.fromEntries(Object.entries(hints).filter(([, value]) => value !== undefined)) as JsonObject;
};

export const planMcpTool = (definition: ToolDefinition): McpTool => {
  const { name, description, parameters } = modelToolSpec(definition).function;
  const { title, output_schema: outputSchema } = definition.options;
  const annotations = annotationsOf(definition.options);
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema: { ...parameters, type: "object" },
    ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as JsonObject }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
};

export interface McpToolPage {
  readonly tools: readonly McpTool[];
  readonly nextCursor: string | undefined;
}

export interface McpToolsAsk {
  readonly engine: Pick<Engine, "tools" | "agentProfiles">;
  readonly who: Who;
  readonly projectId: string;
  readonly isWanted: (name: string) => boolean;
}

const PAGE = 100;

/** Which tools the caller may use, by its profile; a caller that is not an agent may use all. */
const allowedFor = async ({ engine, who, projectId }: McpToolsAsk): Promise<(name: string) => boolean> => {
  const self = boundAgent(who);
  if (self === undefined) return () => true;
  const profile = (await engine.agentProfiles.find(projectId, self))?.profile;
  return (name) => profile !== undefined && mayUseTool(profile, name);
};

export const listMcpTools = async (ask: McpToolsAsk, cursor: string | undefined): Promise<McpToolPage> => {
  const isAllowed = await allowedFor(ask);
  const page = await ask.engine.tools.listTools(ask.projectId, { limit: PAGE, cursor });
  const isShown = ({ toolName }: RegisteredTool): boolean => ask.isWanted(toolName) && isAllowed(toolName);
  return {
    tools: page.items.filter(isShown).map(({ definition }) => planMcpTool(definition)),
    nextCursor: page.nextCursor ?? undefined,
  };
};
