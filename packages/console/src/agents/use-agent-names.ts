// What agents are called: those that were made for a task have long ids and short display names. The roster is asked for once for a
// page; agents that it does not hold (a busy project makes thousands) are asked for one by one, as far as they are shown.

import { useCallback, useEffect, useMemo, useState } from "react";
import { type Page, projectPath, request } from "../api/request.ts";
import type { TraceNode } from "../trace/trace-body.ts";
import type { AgentBody } from "./agent-body.ts";
import { agentWords, planNames } from "./agent-words.ts";

/** While events come in, ids come and go: those that stay are asked for. */
const SETTLE_MS = 250;

type Names = ReadonlyMap<string, string>;
const NONE: Names = new Map();

/** Kept between pages, so that names do not flicker; asked for again by every page. Names that come in make a new map. */
const known = new Map<string, Names>();
const namesOf = (project: string): Names => known.get(project) ?? NONE;

const learn = (project: string, names: readonly (readonly [string, string])[]): void => {
  known.set(project, new Map([...namesOf(project), ...names]));
};

const nameOf = ({ agent_id, display_name }: AgentBody): readonly [string, string] => [agent_id, display_name ?? ""];

const askRoster = async (project: string, signal: AbortSignal): Promise<void> => {
  const path = `${projectPath(project, "agents")}?all=true&limit=500`;
  const { items } = await request<Page<AgentBody>>(path, { signal });
  learn(project, items.map(nameOf));
};

/** An agent that is gone, or that this login may not see, keeps its id. */
const askOne = async (project: string, id: string, signal: AbortSignal): Promise<void> => {
  try {
    learn(project, [nameOf(await request<AgentBody>(projectPath(project, "agents", id), { signal }))]);
  } catch {
    if (!signal.aborted) learn(project, [[id, ""]]);
  }
};

/** The name as far as it was asked for, for filters. */
export const knownAgentName = (project: string, agentId: string): string => known.get(project)?.get(agentId) ?? "";

/** The name of each agent that a page shows; `ids` are those that it shows now. */
export const useAgentNames = (project: string, ids: readonly string[]): ((agentId: string) => string) => {
  const [, setRound] = useState(0);
  const [hasRoster, setHasRoster] = useState(false);
  useEffect(() => {
    const gone = new AbortController();
    const done = (): void => {
      if (!gone.signal.aborted) setHasRoster(true);
    };
    askRoster(project, gone.signal).then(done, done);
    return () => gone.abort();
  }, [project]);
  const names = namesOf(project);
  const unknown = hasRoster ? planNames(ids, names).join(" ") : "";
  useEffect(() => {
    if (unknown === "") return;
    const gone = new AbortController();
    const timer = setTimeout(() => {
      void Promise.all(unknown.split(" ").map((id) => askOne(project, id, gone.signal))).then(() => {
        if (!gone.signal.aborted) setRound((round) => round + 1);
      });
    }, SETTLE_MS);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [project, unknown]);
  return useCallback((agentId) => agentWords(agentId, names), [names]);
};

const agentsIn = (nodes: readonly TraceNode[]): readonly string[] =>
  nodes.flatMap(({ kind, name, children }) => [...(kind === "turn" ? [name ?? ""] : []), ...agentsIn(children)]);

/** The name of what a trace holds: of a turn its agent's, of a call its tool's. */
export const useNodeNames = (project: string, tree: readonly TraceNode[]): ((node: TraceNode) => string) => {
  const nameOf = useAgentNames(
    project,
    useMemo(() => agentsIn(tree), [tree]),
  );
  return useCallback(({ kind, name, id }) => (kind === "turn" ? nameOf(name ?? id) : (name ?? id)), [nameOf]);
};
