// Statements of the roster.

import type { JsonObject } from "@toolplane/protocol";
import type { RosterAgent } from "@toolplane/protocol/registry";
import type { Statement } from "../sql/database.ts";
import { MAX_PAGE_BYTES, type WeighedRow } from "./page.ts";

export interface AgentRow {
  readonly agent_id: string;
  readonly profile_box_id: string;
  readonly worker_target: string;
  readonly tags: readonly string[];
  readonly display_name: string | null;
  readonly owner_agent_id: string | null;
  readonly status: RosterAgent["status"];
  readonly metadata: JsonObject;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const COLUMNS =
  "agent_id, profile_box_id, worker_target, tags, display_name, owner_agent_id, status, metadata, created_at, updated_at";

export const READ_AGENT: Statement = {
  name: "agents.read",
  text: `select ${COLUMNS} from resource.agents where project_id = $1 and agent_id = $2`,
};

/** $1 project, $2 agent, $3 profile box, $4 worker target, $5 tags, $6 display name, $7 owner, $8 status, $9 metadata. */
export const WRITE_AGENT: Statement = {
  name: "agents.write",
  text: `
insert into resource.agents as a (project_id, agent_id, profile_box_id, worker_target, tags, display_name, owner_agent_id, status, metadata)
values ($1, $2, $3, $4, $5::text[], $6, $7, $8, $9::jsonb)
    on conflict (project_id, agent_id) do update
   set profile_box_id = excluded.profile_box_id, worker_target = excluded.worker_target, tags = excluded.tags,
       display_name = excluded.display_name, owner_agent_id = excluded.owner_agent_id, status = excluded.status,
       metadata = excluded.metadata, updated_at = now()
returning ${COLUMNS}`,
};

/** Named by a person or a configuration, the agent no longer belongs only to a task. $1 project, $2 agent. */
export const KEEP_AGENT: Statement = {
  name: "agents.keep",
  text: "update resource.agents set made_for = null where project_id = $1 and agent_id = $2 and made_for is not null",
};

/** An idle head, so that the agent can be given a turn. */
export const INIT_HEAD: Statement = {
  name: "agents.init-head",
  text: "insert into state.heads (project_id, agent_id, active_channel_id) values ($1, $2, $3) on conflict do nothing",
};

/** The next agent after `after` that fits the request. */
const nextAgent = (after: string): string => `
  select ${COLUMNS}, octet_length(metadata::text)::float8 as weight
    from resource.agents
   where project_id = $1 and agent_id > ${after}
     and ($4::text is null or worker_target = $4) and ($5::text is null or $5 = any (tags)) and ($6::text is null or status = $6)
     and ($7::boolean or made_for is null or exists (
       select from state.heads h where h.project_id = $1 and h.agent_id = agents.agent_id and h.status <> 'idle' offset 0))
   order by agent_id
   limit 1`;

/**
 * $1 project, $2 after, $3 limit, $4 worker target, $5 tag, $6 status (null: any), $7 also those
 * that were made for a task and have done it. One after the other, because metadata is jsonb: its
 * length is only known when it is written out, and that shall not be done for more rows than the page has.
 */
export const LIST_AGENTS: Statement = {
  name: "agents.list",
  text: `
with recursive page as (
  (select q.*, q.weight as taken, 1 as place from (${nextAgent("$2")}) q)
  union all
  select n.*, p.taken + n.weight, p.place + 1
    from page p
   cross join lateral (${nextAgent("p.agent_id")}) n
   where p.place < $3::int and (p.taken <= ${MAX_PAGE_BYTES} or p.place = 1)
)
select * from page order by place`,
};

export type ListedAgentRow = AgentRow & WeighedRow;
