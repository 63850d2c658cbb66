// What agents are called: those that were made for a task have long ids and short display names.

import { useCallback } from "react";
import { type Page, projectPath, request } from "../api/request.ts";
import { useLoad } from "../api/use-load.ts";
import type { TraceNode } from "../trace/trace-body.ts";
import type { AgentBody } from "./agent-body.ts";

/** Ids that no name is known for are cut: their beginning is enough to tell them apart on one page. */
const ID_CHARS = 20;

/** `round` asks again: a turn may have made agents meanwhile. */
export const useAgentNames = (project: string, round: string): ((agentId: string) => string) => {
  const path = `${projectPath(project, "agents")}?all=true&limit=500`;
  const agents = useLoad(`${path} ${round}`, (signal) => request<Page<AgentBody>>(path, { signal }));
  const { value } = agents;
  return useCallback(
    (agentId) => value?.items.find(({ agent_id }) => agent_id === agentId)?.display_name || agentId.slice(0, ID_CHARS),
    [value],
  );
};

/** The name of what a trace holds: of a turn its agent's, of a call its tool's. */
export const useNodeNames = (project: string, round: string): ((node: TraceNode) => string) => {
  const nameOf = useAgentNames(project, round);
  return useCallback(({ kind, name, id }) => (kind === "turn" ? nameOf(name ?? id) : (name ?? id)), [nameOf]);
};
