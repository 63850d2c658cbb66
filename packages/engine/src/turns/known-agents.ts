// What this process knows of agents that it left idle: the head as the end of the last turn left it, and the agent's row as a spawn read
// it. The next turn of such an agent is planned from memory, and one message to the database checks the memory, holds the head and
// writes (0071). What is remembered and not true costs a round trip, as in known-work.ts.
//   Only plain requests are planned so: of an actor of the plane, with a correlation of our own, and with nothing that would have to be
//   looked up besides the agent.

import { isTrustedActor } from "@toolplane/protocol";
import type { Clock } from "../ports/clock.ts";
import { createRecent } from "../recent/recent.ts";
import type { Part } from "../sql/database.ts";
import type { SpawnItem } from "./prepare-spawn.ts";
import { bindKeptAgents, KEEP_AGENTS, type SpawnFacts } from "./spawn.sql.ts";
import { agentKey, type HeadRow } from "./turn-row.ts";

/** An entry takes about 2 kB. */
const MAX_AGENTS = 10_000;

interface IdleHead {
  readonly head: HeadRow;
  readonly version: string;
  readonly atMs: number;
}

export interface RecalledAgents {
  /** The facts of each agent, as a spawn would read them. */
  readonly facts: readonly SpawnFacts[];
  /** The part of a transaction that checks these facts and holds the heads. */
  keep(): Part;
}

export interface KnownAgents {
  /** Remembers what a spawn has read. */
  read(item: SpawnItem, facts: SpawnFacts): void;
  /** Remembers a head, after the commit that left it idle. Without a version nothing is remembered. */
  idle(head: HeadRow, version: string | undefined): void;
  /** Undefined unless all requests are plain, of different agents, and all agents are remembered. */
  recall(items: readonly SpawnItem[]): RecalledAgents | undefined;
}

const isPlain = ({ request, correlationId, agentTurnId }: SpawnItem): boolean => {
  const { context, kind = "turn", lineage, aliasId, outputBoxId, profileBoxId, sourceAgentId } = request;
  return (
    kind === "turn" &&
    correlationId === agentTurnId &&
    isTrustedActor(sourceAgentId) &&
    [lineage, aliasId, outputBoxId, profileBoxId].every((given) => given === undefined) &&
    !("boxId" in context) &&
    (context.inheritBoxIds ?? []).length === 0 &&
    context.inheritCardIds === undefined
  );
};

const factsKey = ({ request }: SpawnItem): string => `${agentKey(request)}/${request.sourceAgentId}`;

export const createKnownAgents = (clock: Clock): KnownAgents => {
  const rosters = createRecent<SpawnFacts>(MAX_AGENTS);
  const heads = createRecent<IdleHead>(MAX_AGENTS);

  return {
    read(item, facts) {
      if (isPlain(item)) rosters.set(factsKey(item), { ...facts, head: null, queue: [] });
    },
    idle(head, version) {
      if (version === undefined) return;
      const key = agentKey({ projectId: head.project_id, agentId: head.agent_id });
      heads.set(key, { head, version, atMs: clock.now() });
    },
    recall(items) {
      const agents = new Set(items.map(({ request }) => agentKey(request)));
      if (agents.size < items.length) return undefined;
      const found = items.flatMap((item) => {
        const idle = heads.get(agentKey(item.request));
        const roster = isPlain(item) ? rosters.get(factsKey(item)) : undefined;
        return idle === undefined || roster === undefined ? [] : [{ item, idle, roster }];
      });
      if (found.length < items.length) return undefined;
      return {
        facts: found.map(({ idle: { head, atMs }, roster }, index) => ({
          ...roster,
          ord: index + 1,
          known: true,
          steady: true,
          // The clock of the database, as far as it can be told without asking.
          head: { ...head, now_ms: head.now_ms + Math.max(0, clock.now() - atMs) },
        })),
        keep: () => ({
          statement: KEEP_AGENTS,
          values: bindKeptAgents(
            found.map(({ item: { request }, idle, roster }) => ({
              projectId: request.projectId,
              agentId: request.agentId,
              version: idle.version,
              workerTarget: roster.worker_target,
              profileBoxId: roster.roster_profile,
              displayName: roster.roster_name,
            })),
          ),
        }),
      };
    },
  };
};
