// The tools of an MCP server in the registry.
//   - A program's first definition of a tool is in force at once: the operator named the program. What comes from an address waits
//     until a person accepts it (`tools accept`), as an OpenAPI document from an address does.
//   - Every change waits, also when the tool had been gone in between.

import type { DefinedMcpTool, RefusedMcpTool } from "@toolplane/bridges/mcp";
import type { Actor, Engine, RegisteredTool, ToolUpsertResult } from "@toolplane/engine";
import { ToolplaneError, understandError } from "@toolplane/protocol";

export interface ServedMcpTool extends DefinedMcpTool {
  /** What calls of the tool are pinned to. */
  readonly inForceHash: string;
  /** The server offers another definition than the one in force. */
  readonly isChanged: boolean;
}

export interface Registered {
  readonly served: readonly ServedMcpTool[];
  readonly refused: readonly RefusedMcpTool[];
}

export interface Registry {
  readonly engine: Pick<Engine, "tools">;
  readonly projectId: string;
  readonly source: string;
  readonly by: Actor;
  /** Whether new tools wait too. */
  readonly newWait: boolean;
}

const PAGE = 200;

const outcomeOf = (
  tool: DefinedMcpTool,
  known: RegisteredTool | undefined,
  result: ToolUpsertResult | ToolplaneError | undefined,
): ServedMcpTool | RefusedMcpTool => {
  if (result === undefined || result instanceof ToolplaneError)
    return { name: tool.mcpTool, reason: understandError(result, { keepMessage: true }).message };
  const { inForce, outcome, definitionHash } = result;
  const { tool_name: name } = tool.definition;
  if (inForce === undefined && typeof known?.deletedBy === "string")
    return {
      name: tool.mcpTool,
      reason: `a person deleted ${name}; to bring it back run: toolplane tools accept ${name}`,
    };
  return { ...tool, inForceHash: inForce?.definitionHash ?? definitionHash, isChanged: outcome === "pending" };
};

export const registerTools = async (registry: Registry, tools: readonly DefinedMcpTool[]): Promise<Registered> => {
  const { engine, projectId, source, by, newWait } = registry;
  const outcomes: (ServedMcpTool | RefusedMcpTool)[] = [];
  for (let at = 0; at < tools.length; at += PAGE) {
    const page = tools.slice(at, at + PAGE);
    const pairs = await Promise.all(
      page.map(async (tool) => ({ tool, known: await engine.tools.findTool(projectId, tool.definition.tool_name) })),
    );
    for (const waits of [false, true]) {
      const part = pairs.filter(({ known }) => (newWait || known !== undefined) === waits);
      if (part.length === 0) continue;
      const uploads = part.map(({ tool }) => tool.definition);
      const results = await engine.tools.upsertTools(projectId, uploads, { source, by, waits });
      part.forEach(({ tool, known }, index) => {
        outcomes.push(outcomeOf(tool, known, results[index]));
      });
    }
  }
  return {
    served: outcomes.flatMap((one) => ("reason" in one ? [] : [one])),
    refused: outcomes.flatMap((one) => ("reason" in one ? [one] : [])),
  };
};

const MOST_SHOWN = 5;
const MOST_CHARS = 200;

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}...` : text;
};

/** Why a call of a changed tool is refused, with what has changed. */
export const explainChange = async (
  { engine, projectId }: Registry,
  server: string,
  toolName: string,
): Promise<ToolplaneError> => {
  const pending = (await engine.tools.findTool(projectId, toolName))?.pending;
  const changes = (pending?.changes ?? []).slice(0, MOST_SHOWN);
  const said = changes.map(({ field, from, to }) => `${field}: ${show(from)} -> ${show(to)}`).join("; ");
  return new ToolplaneError(
    "definition_changed",
    said === ""
      ? `${toolName} of MCP server ${server} is not accepted yet`
      : `MCP server ${server} offers another definition of ${toolName} than the accepted one (${said})`,
    { detail: { todo: `look at it, then run: toolplane tools accept ${toolName}`, changes } },
  );
};

/** Tools that the configuration's patterns now leave out are deleted; the operator has said so. */
export const dropLeftOut = async (
  { engine, projectId, source, by }: Registry,
  names: readonly string[],
): Promise<void> => {
  for (const name of names) {
    const tool = await engine.tools.getTool(projectId, name);
    if (tool?.source === source) await engine.tools.deleteTool(projectId, name, { by, byProgram: true });
  }
};
