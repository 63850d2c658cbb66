// What an MCP address asks for beside its project: `?tools=read_*,search` and `?agents=helper`. A name that the project does not have
// is refused by name: a client that silently sees no tools gives a person nothing to put right.
//   A pattern with `*` may match nothing: the tools of a server or a host come when it is ready.

import type { Engine } from "@toolplane/engine";
import { badRequest, didYouMean, showName } from "@toolplane/protocol";
import { z } from "zod";

export const mcpQuery = z.strictObject({
  tools: z
    .string()
    .max(4_096)
    .optional()
    .meta({ description: "Names of tools, with * for any text, separated by commas." }),
  agents: z.string().max(4_096).optional().meta({ description: "Agents that are offered as the tool run_agent." }),
});

export interface McpAddress {
  /** Undefined: every tool. */
  readonly tools: readonly string[] | undefined;
  readonly agents: readonly string[];
}

/** Names that a mistyped one is compared with. */
const NAMES_COMPARED = 500;

const NAME = /^[\w-]+$/u;
const PATTERN = /^[\w*-]+$/u;

const namesIn = (params: URLSearchParams, key: string, form: RegExp): readonly string[] | undefined => {
  if (!params.has(key)) return undefined;
  const names = params
    .getAll(key)
    .flatMap((text) => text.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (names.length === 0) throw badRequest(`?${key}= names nothing: name some, or leave it out`);
  const odd = names.find((name) => !form.test(name));
  if (odd !== undefined) throw badRequest(`?${key}=: ${showName(odd)} cannot be a name: a name has A-Z a-z 0-9 _ -`);
  return names;
};

export const parseAddress = (params: URLSearchParams): McpAddress => ({
  tools: namesIn(params, "tools", PATTERN),
  agents: namesIn(params, "agents", NAME) ?? [],
});

/** Whether the address asks for a tool. */
export const createToolFilter = (tools: McpAddress["tools"]): ((name: string) => boolean) => {
  if (tools === undefined) return () => true;
  const whole = new RegExp(`^(?:${tools.map((pattern) => pattern.replaceAll("*", "[\\w-]*")).join("|")})$`, "u");
  return (name) => whole.test(name);
};

type Registry = Pick<Engine, "definitions" | "tools" | "agents">;

const refuseUnknownTools = async (engine: Registry, projectId: string, names: readonly string[]): Promise<void> => {
  const found = await engine.definitions.resolve(names.map((toolName) => ({ projectId, toolName })));
  for (const [index, name] of names.entries()) {
    if (found[index] !== undefined) continue;
    // A tool that is paused, or that waits until a person accepts it, is known.
    const known = await engine.tools.findTool(projectId, name);
    if (known !== undefined && known.status !== "deleted") continue;
    const names = await engine.tools.toolNames(projectId);
    const meant = didYouMean(
      name,
      names.filter(({ status }) => status !== "deleted").map(({ toolName }) => toolName),
    );
    throw badRequest(`?tools= names ${name}, and project ${projectId} has no such tool${meant}`);
  }
};

export const refuseUnknownNames = async (
  engine: Registry,
  projectId: string,
  { tools = [], agents }: McpAddress,
): Promise<void> => {
  const exact = tools.filter((name) => !name.includes("*"));
  if (exact.length > 0) await refuseUnknownTools(engine, projectId, exact);
  for (const name of agents) {
    if ((await engine.agents.getAgent(projectId, name)) !== undefined) continue;
    const { items } = await engine.agents.listAgents(projectId, { limit: NAMES_COMPARED });
    const meant = didYouMean(
      name,
      items.map(({ agentId }) => agentId),
    );
    throw badRequest(`?agents= names ${name}, and project ${projectId} has no such agent${meant}`);
  }
};
