// The roster: which agents a project has. Its worker_target alone routes wakeups. The protocol decides how an entry is merged
// with an existing one (planRosterUpsert); here it is read, planned and written under the project's lock.

import { canonicalText, isStorable, isToken, type JsonObject, showName, ToolplaneError } from "@toolplane/protocol";
import {
  type AgentUpload,
  parseAgentUpload,
  planDeactivation,
  planRosterUpsert,
  type RosterAgent,
  type RosterEntry,
  type RosterStatus,
} from "@toolplane/protocol/registry";
import { type Act, type Actor, recordActs } from "../audit/audit.ts";
import type { Ground } from "../ports/ground.ts";
import type { Queryer } from "../sql/database.ts";
import {
  type AgentRow,
  INIT_HEAD,
  KEEP_AGENT,
  LIST_AGENTS,
  type ListedAgentRow,
  READ_AGENT,
  WRITE_AGENT,
} from "./agents.sql.ts";
import { type Page, type PageRequest, parsePage, toPage } from "./page.ts";
import type { Profiles } from "./profiles.ts";
import { withProject } from "./with-project.ts";

export interface RegisteredAgent {
  readonly projectId: string;
  readonly agentId: string;
  readonly profileBoxId: string;
  readonly workerTarget: string;
  readonly tags: readonly string[];
  readonly displayName: string | null;
  readonly ownerAgentId: string | null;
  readonly status: RosterStatus;
  readonly metadata: JsonObject;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface AgentUpsertResult extends RegisteredAgent {
  readonly outcome: "created" | "updated";
}

export interface ListAgentsRequest extends PageRequest {
  readonly workerTarget?: string | undefined;
  readonly tag?: string | undefined;
  readonly status?: RosterStatus | undefined;
  /** False leaves out agents that were made for a task and have done it. */
  readonly all?: boolean | undefined;
}

export interface Agents {
  upsertAgent(projectId: string, upload: unknown, by?: Actor): Promise<AgentUpsertResult>;
  getAgent(projectId: string, agentId: string): Promise<RegisteredAgent | undefined>;
  listAgents(projectId: string, request?: ListAgentsRequest): Promise<Page<RegisteredAgent>>;
  /** An inactive agent may send nothing (W-17). */
  deactivateAgent(projectId: string, agentId: string, reason: string, by?: Actor): Promise<RegisteredAgent>;
  activateAgent(projectId: string, agentId: string, by?: Actor): Promise<RegisteredAgent>;
}

export interface AgentsOptions extends Pick<Ground, "db" | "doorbell"> {
  readonly profiles: Pick<Profiles, "getProfile" | "loadProfile">;
}

const toAgent = (projectId: string, row: AgentRow): RegisteredAgent => ({
  projectId,
  agentId: row.agent_id,
  profileBoxId: row.profile_box_id,
  workerTarget: row.worker_target,
  tags: row.tags,
  displayName: row.display_name,
  ownerAgentId: row.owner_agent_id,
  status: row.status,
  metadata: row.metadata,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

const toRoster = (projectId: string, { created_at, updated_at, ...row }: AgentRow): RosterAgent => ({
  ...row,
  project_id: projectId,
});

const noAgent = (projectId: string, agentId: string): ToolplaneError =>
  new ToolplaneError("not_found", `project ${projectId} has no agent ${showName(agentId)}`);

/** The events of the plane's own actors run under these names: `sys.api`, which makes an operator's direct calls, is `sys_api`. */
const RESERVED_PREFIX = "sys_";

/** Agents of earlier versions with such a name stay as they are. */
const refuseReserved = (agentId: string): void => {
  if (!agentId.toLowerCase().startsWith(RESERVED_PREFIX)) return;
  throw new ToolplaneError(
    "bad_request",
    `agent_id ${agentId} is refused: names that begin with ${RESERVED_PREFIX} belong to the plane's own actors`,
  );
};

/** A filter value that the database cannot hold matches no agent. */
const mayMatch = (text: string | undefined): boolean => text === undefined || isStorable(text);

export const createAgents = ({ db, doorbell, profiles }: AgentsOptions): Agents => {
  const read = async (tx: Queryer, projectId: string, agentId: string): Promise<AgentRow | undefined> =>
    isToken(agentId) ? (await tx.query<AgentRow>(READ_AGENT, [projectId, agentId]))[0] : undefined;

  const write = async (tx: Queryer, projectId: string, agent: RosterAgent): Promise<RegisteredAgent> => {
    const [row] = await tx.query<AgentRow>(WRITE_AGENT, [
      projectId,
      agent.agent_id,
      agent.profile_box_id,
      agent.worker_target,
      agent.tags,
      agent.display_name,
      agent.owner_agent_id,
      agent.status,
      JSON.stringify(agent.metadata),
    ]);
    if (row === undefined) throw new ToolplaneError("internal_error", "writing an agent gave no row");
    return toAgent(projectId, row);
  };

  /** The entry with the values of its profile. */
  const complete = async (tx: Queryer, projectId: string, upload: AgentUpload): Promise<RosterEntry> => {
    const { profile_name: name } = upload;
    const named = name === undefined ? undefined : await profiles.getProfile(projectId, name, tx);
    if (name !== undefined && named === undefined)
      throw new ToolplaneError("not_found", `there is no profile ${showName(name)}`);
    const boxId = upload.profile_box_id ?? named?.profileBoxId;
    const profile = boxId === undefined ? undefined : await profiles.loadProfile(projectId, boxId, tx);
    if (boxId === undefined || profile === undefined)
      throw new ToolplaneError("not_found", "profile_box_id is not a profile box of this project");
    return {
      project_id: projectId,
      agent_id: upload.agent_id,
      profile_box_id: boxId,
      worker_target: upload.worker_target ?? profile.worker_target,
      tags: upload.tags ?? profile.tags,
      display_name: upload.display_name ?? null,
      owner_agent_id: upload.owner_agent_id ?? null,
      metadata: { profile_name: profile.name, ...upload.metadata },
    };
  };

  const change = async (
    projectId: string,
    agentId: string,
    plan: (agent: RosterAgent) => RosterAgent,
    { by, act, ...rest }: { readonly by: Actor | undefined } & Pick<Act, "act" | "detail">,
  ) => {
    const agent = await withProject(db, projectId, async (tx) => {
      const row = await read(tx, projectId, agentId);
      if (row === undefined) throw noAgent(projectId, agentId);
      await recordActs(tx, by, [{ projectId, act, subject: agentId, ...rest }]);
      return write(tx, projectId, plan(toRoster(projectId, row)));
    });
    doorbell.ring("registry");
    return agent;
  };

  return {
    async upsertAgent(projectId, upload, by) {
      const parsed = parseAgentUpload(upload);
      const result = await withProject(db, projectId, async (tx): Promise<AgentUpsertResult> => {
        const entry = await complete(tx, projectId, parsed);
        const known = await read(tx, projectId, parsed.agent_id);
        if (known === undefined) refuseReserved(parsed.agent_id);
        const plan = planRosterUpsert(known && toRoster(projectId, known), entry);
        const agent = await write(tx, projectId, plan.agent);
        await tx.query(KEEP_AGENT, [projectId, parsed.agent_id]);
        if (parsed.init_state) await tx.query(INIT_HEAD, [projectId, parsed.agent_id, parsed.channel_id ?? null]);
        const outcome = plan.outcome === "insert" ? "created" : "updated";
        const detail = { outcome, profile_box_id: agent.profileBoxId, worker_target: agent.workerTarget };
        // A configuration that is applied unchanged at every start must not fill the audit.
        const isChanged =
          known === undefined || canonicalText(toRoster(projectId, known)) !== canonicalText(plan.agent);
        if (isChanged)
          await recordActs(tx, by, [{ projectId, act: "agent.applied", subject: parsed.agent_id, detail }]);
        return { ...agent, outcome };
      });
      doorbell.ring("registry");
      return result;
    },
    async getAgent(projectId, agentId) {
      const row = await read(db, projectId, agentId);
      return row === undefined ? undefined : toAgent(projectId, row);
    },
    async listAgents(projectId, { workerTarget, tag, status, all = true, ...page } = {}) {
      const bounds = parsePage(page);
      if (!mayMatch(workerTarget) || !mayMatch(tag)) return { items: [] };
      const filters = [workerTarget ?? null, tag ?? null, status ?? null, all];
      const rows = await db.query<ListedAgentRow>(LIST_AGENTS, [projectId, bounds.after, bounds.limit + 1, ...filters]);
      return toPage(
        rows,
        bounds,
        (row) => row.agent_id,
        (row) => toAgent(projectId, row),
      );
    },
    deactivateAgent: (projectId, agentId, reason, by) =>
      change(projectId, agentId, (agent) => planDeactivation(agent, reason), {
        by,
        act: "agent.deactivated",
        detail: { reason },
      }),
    activateAgent: (projectId, agentId, by) =>
      change(projectId, agentId, (agent) => ({ ...agent, status: "active" }), { by, act: "agent.activated" }),
  };
};
