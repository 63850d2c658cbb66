// Delegation: the facts that the guards of agents managing agents need, and the agents they make. It decides nothing: rights are
// planned elsewhere, purely. All of it runs in the transaction of the deciding part.
//   DL1. An agent comes with its roster row, its identity edge and an idle head, all or none.
//   DL2. The edge is named by the request that made the agent: a repeated request finds what it made.
//   DL4. The open turns that agents of a project gave to others are bounded, however wide and deep they delegate. They, and tasks that wait to
//        become such turns, are counted in the transaction that adds to them; delegations that run at the same moment may pass the bound by their own tasks.
//   DL3. An agent that an agent makes is one level deeper for ever: outside of its turns it speaks at that depth (I9).

import { isStorable, isToken, type JsonObject, type JsonValue, ToolplaneError } from "@toolplane/protocol";
import {
  type Profile,
  parseProfileCard,
  profileKey,
  type RosterAgent,
  resolveLimits,
} from "@toolplane/protocol/registry";
import { PMO_ACTOR } from "../batches/batch.ts";
import type { Held } from "../calls/leases.ts";
import { type HeldCall, holdCall } from "../calls/park.ts";
import { isPossibleId } from "../cards/possible-id.ts";
import type { Ground } from "../ports/ground.ts";
import { KEEP_AGENT } from "../registry/agents.sql.ts";
import { LOCK_PROJECT } from "../registry/projects.sql.ts";
import { noProject } from "../registry/with-project.ts";
import type { Queryer } from "../sql/database.ts";
import {
  bindAgents,
  CHOOSE_OUTPUT_BOX,
  COUNT_DELEGATED,
  HAS_IDENTITY_EDGE,
  type PartyRow,
  READ_EXISTING_BOXES,
  READ_NAMED_PROFILES,
  READ_PARTIES,
  READ_PROFILE_BOXES,
  READ_SPAWNED,
  type SpawnedRow,
  WRITE_AGENTS,
} from "./delegation.sql.ts";

/** The boxes of an agent: those of its head, and the output of its last turn. */
export interface PartyBoxes {
  readonly profile: string | null;
  readonly context: string | null;
  readonly output: string | null;
  readonly lastOutput: string | null;
}

export interface Party {
  readonly agent: RosterAgent;
  /** Undefined when its profile box holds no profile. */
  readonly profile: Profile | undefined;
  readonly boxes: PartyBoxes;
}

export interface NamedProfile {
  readonly profileBoxId: string;
  readonly profile: Profile;
}

export interface PartiesAsked {
  readonly agentIds?: readonly string[] | undefined;
  readonly profileNames?: readonly string[] | undefined;
  readonly profileBoxIds?: readonly string[] | undefined;
  readonly boxIds?: readonly string[] | undefined;
}

/** What was found; what was not found is missing from the maps. */
export interface Parties {
  readonly agents: ReadonlyMap<string, Party>;
  /** By folded name. */
  readonly profiles: ReadonlyMap<string, NamedProfile>;
  /** By profile box. */
  readonly profileBoxes: ReadonlyMap<string, Profile>;
  readonly boxes: ReadonlySet<string>;
}

export interface AgentWrite {
  readonly agent: Omit<RosterAgent, "status">;
  readonly action: "provision" | "update";
  /** Names the request (DL2). */
  readonly edgeId: string;
  readonly sourceAgentId: string;
  readonly channelId: string;
  readonly activeChannelId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly parentStepId?: string | undefined;
  readonly edgeMetadata?: JsonObject | undefined;
  /** How deep a new agent is: one level below its maker. An existing agent keeps its depth. */
  readonly depth: number;
  /** Made for one task: deleted when nothing is left of the task. */
  readonly forTask?: boolean | undefined;
}

export interface DelegatedTurn {
  readonly agentId: string;
  readonly agentTurnId: string;
  readonly turnEpoch: number | null;
  readonly contextBoxId: string;
  readonly outputBoxId: string;
}

export interface Delegation {
  /** Runs `work` in a transaction that holds the call; throws `lease_lost` when another holder has it. */
  forCall<T>(held: Held, work: (tx: Queryer, call: HeldCall) => Promise<T>): Promise<T>;
  readParties(projectId: string, asked: PartiesAsked, tx: Queryer): Promise<Parties>;
  /** Locks the project's roster until the transaction ends. */
  lockRoster(projectId: string, tx: Queryer): Promise<void>;
  writeAgents(agents: readonly AgentWrite[], tx: Queryer): Promise<void>;
  /** Keeps an agent that was made for a task when the task is over. */
  keepAgent(projectId: string, agentId: string, tx: Queryer): Promise<void>;
  /** The agent a request has provisioned before. */
  findProvisioned(projectId: string, edgeId: string, tx: Queryer): Promise<string | undefined>;
  /** The box that an existing agent goes on writing into, if none of its turns does. */
  chooseOutputBox(projectId: string, agentId: string, tx: Queryer): Promise<string | undefined>;
  /** Throws `rate_limited` when the project has no room for so many more delegated turns (DL4). */
  checkRoom(projectId: string, count: number, tx: Queryer): Promise<void>;
  findSpawned(projectId: string, correlationId: string, tx: Queryer): Promise<DelegatedTurn | undefined>;
}

const distinct = (ids: readonly (string | null | undefined)[], usable: (id: string) => boolean): string[] => [
  ...new Set(ids.filter((id): id is string => typeof id === "string" && usable(id))),
];

/** A card that this version cannot read is not a profile: only requests that need it are refused. */
const tryProfile = (body: string): Profile | undefined => {
  try {
    const { content } = JSON.parse(body) as { readonly content?: { readonly data?: JsonValue } };
    return parseProfileCard(content?.data);
  } catch {
    return undefined;
  }
};

const partyOf = (projectId: string, row: PartyRow, profiles: ReadonlyMap<string, Profile>): Party => ({
  agent: {
    project_id: projectId,
    agent_id: row.agent_id,
    profile_box_id: row.profile_box_id ?? "",
    worker_target: row.worker_target,
    tags: [...row.tags],
    display_name: row.display_name,
    owner_agent_id: row.owner_agent_id,
    status: row.status,
    metadata: row.metadata,
  },
  profile: profiles.get(row.profile_box_id ?? ""),
  boxes: {
    profile: row.head_profile_box_id ?? row.profile_box_id,
    context: row.context_box_id,
    output: row.output_box_id,
    lastOutput: row.last_output_box_id,
  },
});

export type DelegationDeps = Pick<Ground, "db" | "faults">;

export const createDelegation = ({ db, faults }: DelegationDeps): Delegation => ({
  async forCall(held, work) {
    const done = await db.transaction(async (tx) => {
      const outcome = await work(tx, await holdCall(tx, held));
      await faults.at("delegate:before-commit");
      return outcome;
    });
    await faults.at("delegate:after-commit");
    return done;
  },

  async readParties(projectId, asked, tx) {
    const agentIds = distinct(asked.agentIds ?? [], isToken);
    const nameKeys = distinct((asked.profileNames ?? []).filter(isStorable).map(profileKey), isStorable);
    const boxIds = distinct(asked.boxIds ?? [], isPossibleId);
    const rows = agentIds.length === 0 ? [] : await tx.query<PartyRow>(READ_PARTIES, [projectId, agentIds]);
    const named =
      nameKeys.length === 0
        ? []
        : await tx.query<{ name_key: string; profile_box_id: string }>(READ_NAMED_PROFILES, [projectId, nameKeys]);
    const profileBoxIds = distinct(
      [
        ...rows.map((row) => row.profile_box_id),
        ...named.map((row) => row.profile_box_id),
        ...(asked.profileBoxIds ?? []),
      ],
      isPossibleId,
    );
    const cards =
      profileBoxIds.length === 0
        ? []
        : await tx.query<{ box_id: string; body: string }>(READ_PROFILE_BOXES, [projectId, profileBoxIds]);
    const profileBoxes = new Map<string, Profile>();
    for (const { box_id, body } of cards) {
      const profile = tryProfile(body);
      if (profile !== undefined) profileBoxes.set(box_id, profile);
    }
    const boxes =
      boxIds.length === 0 ? [] : await tx.query<{ box_id: string }>(READ_EXISTING_BOXES, [projectId, boxIds]);
    return {
      agents: new Map(rows.map((row) => [row.agent_id, partyOf(projectId, row, profileBoxes)])),
      profiles: new Map(
        named.flatMap(({ name_key, profile_box_id }) => {
          const profile = profileBoxes.get(profile_box_id);
          return profile === undefined ? [] : [[name_key, { profileBoxId: profile_box_id, profile }]];
        }),
      ),
      profileBoxes,
      boxes: new Set(boxes.map(({ box_id }) => box_id)),
    };
  },

  async lockRoster(projectId, tx) {
    if ((await tx.query(LOCK_PROJECT, [projectId])).length === 0) throw noProject(projectId);
  },

  async writeAgents(agents, tx) {
    if (agents.length === 0) return;
    const rows = agents.map(({ agent, ...write }) => ({
      projectId: agent.project_id,
      agentId: agent.agent_id,
      profileBoxId: agent.profile_box_id,
      workerTarget: agent.worker_target,
      tags: JSON.stringify(agent.tags),
      displayName: agent.display_name,
      ownerAgentId: agent.owner_agent_id,
      metadata: JSON.stringify(agent.metadata),
      edgeId: write.edgeId,
      action: write.action,
      sourceAgentId: write.sourceAgentId,
      channelId: write.channelId,
      activeChannelId: write.activeChannelId ?? null,
      traceId: write.traceId ?? null,
      parentStepId: write.parentStepId ?? null,
      forTask: write.forTask ?? false,
      depth: write.depth,
      edgeMetadata: JSON.stringify({
        owner_agent_id: agent.owner_agent_id,
        worker_target: agent.worker_target,
        tags: agent.tags,
        ...write.edgeMetadata,
      }),
    }));
    await tx.query(WRITE_AGENTS, bindAgents(rows));
  },

  async keepAgent(projectId, agentId, tx) {
    await tx.query(KEEP_AGENT, [projectId, agentId]);
  },

  async findProvisioned(projectId, edgeId, tx) {
    const [row] = await tx.query<{ target_agent_id: string }>(HAS_IDENTITY_EDGE, [projectId, edgeId]);
    return row?.target_agent_id;
  },

  async chooseOutputBox(projectId, agentId, tx) {
    const [row] = await tx.query<{ box_id: string }>(CHOOSE_OUTPUT_BOX, [projectId, agentId]);
    return row?.box_id;
  },

  async checkRoom(projectId, count, tx) {
    const usual = resolveLimits({}).delegated_turns;
    const [row] = await tx.query<{ open: number; most: number }>(COUNT_DELEGATED, [projectId, usual]);
    const { open, most } = row ?? { open: 0, most: usual };
    if (open + count <= most) return;
    throw new ToolplaneError(
      "rate_limited",
      `the agents of project ${projectId} have given ${open} turns to others that have not ended, and the limit is ${most}: wait until some have ended, or do the work yourself`,
      { detail: { limit: "delegated_turns", delegated_turns: most } },
    );
  },

  async findSpawned(projectId, correlationId, tx) {
    const [row] = await tx.query<SpawnedRow>(READ_SPAWNED, [projectId, correlationId, PMO_ACTOR]);
    if (row === undefined) return undefined;
    return {
      agentId: row.agent_id,
      agentTurnId: row.agent_turn_id,
      turnEpoch: row.turn_epoch === null ? null : Number(row.turn_epoch),
      contextBoxId: row.context_box_id,
      outputBoxId: row.output_box_id,
    };
  },
});
