// What a spawn asks of the database, and the rows it begins a turn with.

import { agentDepth } from "../calls/dispatch.sql.ts";
import type { Statement } from "../sql/database.ts";
import { type SqlType, setInput } from "../sql/input.sql.ts";
import { HELD_FLAGS, heldHead, KEPT_HEAD, NO_QUEUE, NOW_MS, QUEUED } from "./hold.sql.ts";
import { NO_CARD } from "./plan-opening.ts";
import type { HeadRow, QueuedRow, TurnRow } from "./turn-row.ts";
import { TURN_COLUMNS } from "./turn-row.ts";

export interface SpawnLookup {
  readonly projectId: string;
  readonly agentId: string;
  readonly sourceAgentId: string;
  readonly correlationId: string;
  readonly aliasId: string | null;
  readonly lineageTurnId: string | null;
  readonly contextBoxId: string | null;
  readonly outputBoxId: string | null;
  readonly profileBoxId: string | null;
}

/** The columns of an earlier turn under the correlation are null when there is none. */
export interface SpawnFacts extends TurnRow {
  readonly ord: number;
  /** The agent has a head, and the head is unchanged since the rest was read. */
  readonly known: boolean;
  readonly steady: boolean;
  readonly head: HeadRow | null;
  /** Turns that wait for the agent. */
  readonly queue: readonly QueuedRow[];
  readonly worker_target: string | null;
  readonly project_status: string | null;
  readonly agent_status: string | null;
  readonly roster_profile: string | null;
  readonly roster_name: string | null;
  readonly source_active: boolean | null;
  /** The depth of the asking agent, and its present turn; null for an actor that is not in the roster, or is idle. */
  readonly source_depth: number | null;
  readonly source_turn_id: string | null;
  readonly has_context: boolean;
  /** Of the box that is the turn's context as it is; null where a new one is made. */
  readonly context_cards: number | null;
  readonly context_hash: string | null;
  readonly has_output: boolean;
  readonly has_profile: boolean;
  readonly lineage_agent: string | null;
  readonly lineage_depth: number | null;
  readonly lineage_channel: string | null;
  readonly lineage_traceparent: string | null;
  readonly lineage_tracestate: string | null;
  readonly lineage_parent_traceparent: string | null;
}

const lookups = setInput<SpawnLookup>([
  ["projectId", "text"],
  ["agentId", "text"],
  ["sourceAgentId", "text"],
  ["correlationId", "text"],
  ["aliasId", "text"],
  ["lineageTurnId", "text"],
  ["contextBoxId", "text"],
  ["outputBoxId", "text"],
  ["profileBoxId", "text"],
]);

export interface InheritedBox {
  readonly box_id: string;
  readonly card_ids: readonly string[];
  /** Of the cards, in the same order. */
  readonly hashes: readonly string[];
}

/** $1 project, $2 boxes. */
export const READ_INHERITED: Statement = {
  name: "turns.read-inherited",
  text: `
select b.box_id, coalesce(x.card_ids, '{}') as card_ids, coalesce(x.hashes, '{}') as hashes
  from unnest($2::text[]) as i (box_id)
 cross join lateral (select q.box_id from cards.boxes q where q.project_id = $1 and q.box_id = i.box_id offset 0) b
 cross join lateral (
   select array_agg(c.card_id order by c.position) as card_ids, array_agg(coalesce(k.hash, '${NO_CARD}') order by c.position) as hashes
     from cards.box_cards c
     left join lateral (select q.hash from cards.cards q where q.project_id = $1 and q.card_id = c.card_id offset 0) k on true
    where c.project_id = $1 and c.box_id = b.box_id) x`,
};

export interface InheritedCard {
  readonly card_id: string;
  readonly hash: string;
}

/** $1 project, $2 cards; in their order. */
export const READ_INHERITED_CARDS: Statement = {
  name: "turns.read-inherited-cards",
  text: `
select i.card_id, coalesce(k.hash, '${NO_CARD}') as hash
  from unnest($2::text[]) with ordinality as i (card_id, ord)
  left join lateral (select q.hash from cards.cards q where q.project_id = $1 and q.card_id = i.card_id offset 0) k on true
 order by i.ord`,
};

// A scalar subquery: an EXISTS may be planned as one scan of all boxes, and such a plan, made while there are few, would stay.
const hasBox = (column: string): string =>
  `(${column} is null or coalesce((select true from cards.boxes b where b.project_id = i.project_id and b.box_id = ${column}), false))`;

// The same as `contextOfHashes` makes of the hashes, without bringing them here: a box may have thousands of cards.
const CONTEXT = `
  left join lateral (
    select count(*)::int as cards, encode(sha256(convert_to(string_agg(coalesce(k.hash, '${NO_CARD}'), E'\\n' order by b.position), 'UTF8')), 'hex') as hash
      from cards.box_cards b
      left join lateral (
        select q.hash from cards.cards q where q.project_id = b.project_id and q.card_id = b.card_id offset 0) k on true
     where b.project_id = i.project_id and b.box_id = i.context_box_id) given on true`;

// I12. A correlation and an alias belong to their asker and one agent.
const ASKED_ALIKE = "q.source_agent_id = i.source_agent_id and q.agent_id = i.agent_id";

// The agent's head is waited for and held: see hold.sql.ts. A lineage is a turn of an agent, or the headless turn of a direct
// call, whose id is its call's.
export const READ_SPAWN: Statement = {
  name: "turns.read-spawn",
  holds: true,
  text: `
select i.ord::int as ord, ${HELD_FLAGS}, case when h.version is not null then row_to_json(h) end as head, ${QUEUED} as queue, a.worker_target,
       p.status as project_status, a.status as agent_status, a.profile_box_id as roster_profile, a.display_name as roster_name,
       (select s.status = 'active' from resource.agents s where s.project_id = i.project_id and s.agent_id = i.source_agent_id) as source_active,
       (select ${agentDepth("s")} from resource.agents s where s.project_id = i.project_id and s.agent_id = i.source_agent_id) as source_depth,
       (select s.active_agent_turn_id from state.heads s where s.project_id = i.project_id and s.agent_id = i.source_agent_id) as source_turn_id,
       ${hasBox("i.context_box_id")} as has_context, ${hasBox("i.output_box_id")} as has_output, ${hasBox("i.profile_box_id")} as has_profile,
       given.cards as context_cards, given.hash as context_hash,
       coalesce(l.agent_id, c.agent_id) as lineage_agent, coalesce(l.recursion_depth, c.recursion_depth) as lineage_depth,
       coalesce(l.channel_id, c.channel_id) as lineage_channel,
       coalesce(l.traceparent, c.headers::json ->> 'traceparent') as lineage_traceparent,
       coalesce(l.tracestate, c.headers::json ->> 'tracestate') as lineage_tracestate,
       coalesce(l.parent_traceparent, c.headers::json ->> 'CG-Parent-Traceparent') as lineage_parent_traceparent, ${TURN_COLUMNS}
  from ${lookups.from} ${heldHead("")} ${CONTEXT}
  left join resource.projects p on p.project_id = any (array[i.project_id])
  left join resource.agents a on a.project_id = any (array[i.project_id]) and a.agent_id = i.agent_id
  left join state.turns l on l.project_id = any (array[i.project_id]) and l.agent_turn_id = i.lineage_turn_id
  left join state.calls c on c.project_id = any (array[i.project_id]) and c.tool_call_id = substr(i.lineage_turn_id, 6) and c.headless
  left join lateral (
    (select * from state.turns q where q.project_id = i.project_id and q.correlation_id = i.correlation_id and ${ASKED_ALIKE} offset 0)
    union all
    (select * from state.turns q where q.project_id = i.project_id and q.alias_id = i.alias_id and ${ASKED_ALIKE} offset 0)
    limit 1) t on true
 order by i.ord`,
};

export const bindLookups = (rows: readonly SpawnLookup[]): unknown[] => lookups.bind(rows);

export interface KeptAgent {
  readonly projectId: string;
  readonly agentId: string;
  /** The head's version when it was last written here. */
  readonly version: string;
  readonly workerTarget: string | null;
  readonly profileBoxId: string | null;
  readonly displayName: string | null;
}

const kept = setInput<KeptAgent>([
  ["projectId", "text"],
  ["agentId", "text"],
  ["version", "text"],
  ["workerTarget", "text"],
  ["profileBoxId", "text"],
  ["displayName", "text"],
]);

/** Holds the heads if they, the agents and their projects are what the caller remembers, and no turn waits; fails otherwise. */
export const KEEP_AGENTS: Statement = {
  name: "turns.keep-agents",
  holds: true,
  text: `
select state.sure(count(*) filter (where h.version = i.version and p.status = 'active' and a.status = 'active'
              and a.worker_target is not distinct from i.worker_target and a.profile_box_id is not distinct from i.profile_box_id
              and a.display_name is not distinct from i.display_name and ${NO_QUEUE}) = count(*)) as kept, ${NOW_MS} as now_ms
  from ${kept.from} ${KEPT_HEAD}
  left join lateral (select q.status from resource.projects q where q.project_id = i.project_id offset 0) p on true
  left join lateral (
    select q.status, q.worker_target, q.profile_box_id, q.display_name from resource.agents q
     where q.project_id = i.project_id and q.agent_id = i.agent_id offset 0) a on true`,
};

export const bindKeptAgents = (rows: readonly KeptAgent[]): unknown[] => kept.bind(rows);

export interface SpawnRow {
  readonly projectId: string;
  readonly agentTurnId: string;
  readonly agentId: string;
  readonly kind: string;
  readonly correlationId: string;
  readonly aliasId: string | null;
  readonly requestHash: string;
  readonly sourceAgentId: string;
  readonly sourceTurnId: string | null;
  readonly sourceStepId: string | null;
  readonly channelId: string;
  readonly recursionDepth: number;
  readonly traceId: string;
  readonly traceparent: string;
  readonly tracestate: string | null;
  readonly parentTraceparent: string | null;
  readonly parentAgentId: string | null;
  readonly parentAgentTurnId: string | null;
  readonly parentStepId: string | null;
  readonly profileBoxId: string;
  readonly contextBoxId: string;
  readonly outputBoxId: string;
  readonly contextOwned: boolean;
  readonly outputOwned: boolean;
  readonly displayName: string | null;
  readonly payload: string;
  readonly runtimeConfig: string;
  readonly metadata: string;
  readonly inboxId: string;
  readonly contextHeaders: string;
  readonly inboxPayload: string;
  readonly edgeId: string;
  readonly contextCards: number;
  readonly contextHash: string | null;
  readonly taskHash: string;
  readonly chainVersion: number;
  readonly chainSeq: number;
  readonly chainHash: string;
  /** 0 while it waits behind another turn. */
  readonly turnEpoch: number;
  /** How its inbox row begins: in the queue, for the pool, or as work under a claim. */
  readonly inboxStatus: "queued" | "pending" | "processing";
  readonly claimId: string | null;
  readonly claimSeconds: number | null;
  readonly worker: string | null;
}

export const SPAWN_COLUMNS: readonly (readonly [keyof SpawnRow & string, SqlType])[] = [
  ["projectId", "text"],
  ["agentTurnId", "text"],
  ["agentId", "text"],
  ["kind", "text"],
  ["correlationId", "text"],
  ["aliasId", "text"],
  ["requestHash", "text"],
  ["sourceAgentId", "text"],
  ["sourceTurnId", "text"],
  ["sourceStepId", "text"],
  ["channelId", "text"],
  ["recursionDepth", "integer"],
  ["traceId", "text"],
  ["traceparent", "text"],
  ["tracestate", "text"],
  ["parentTraceparent", "text"],
  ["parentAgentId", "text"],
  ["parentAgentTurnId", "text"],
  ["parentStepId", "text"],
  ["profileBoxId", "text"],
  ["contextBoxId", "text"],
  ["outputBoxId", "text"],
  ["contextOwned", "boolean"],
  ["outputOwned", "boolean"],
  ["displayName", "text"],
  ["payload", "text"],
  ["runtimeConfig", "text"],
  ["metadata", "text"],
  ["inboxId", "text"],
  ["contextHeaders", "text"],
  ["inboxPayload", "text"],
  ["edgeId", "text"],
  ["contextCards", "integer"],
  ["contextHash", "text"],
  ["taskHash", "text"],
  ["chainVersion", "integer"],
  ["chainSeq", "integer"],
  ["chainHash", "text"],
  ["turnEpoch", "bigint"],
  ["inboxStatus", "text"],
  ["claimId", "text"],
  ["claimSeconds", "double precision"],
  ["worker", "text"],
];

// No conflict is asked for: a correlation, an alias or an output box that is taken was seen by READ_SPAWN, or fails the
// statement (see spawn.ts).
/** The turn, its inbox row and its request edge. */
export const spawnParts = (from: string): string => `
input as materialized (select * from ${from}),
begun as (
  insert into state.turns (
    project_id, agent_turn_id, agent_id, kind, status, correlation_id, alias_id, request_hash, source_agent_id, channel_id,
    recursion_depth, trace_id, traceparent, tracestate, parent_traceparent, parent_agent_id, parent_agent_turn_id, parent_step_id, profile_box_id, context_box_id,
    output_box_id, context_owned, output_owned, display_name, payload, runtime_config, metadata, context_cards, context_hash, task_hash,
    chain_version, chain_seq, chain_hash, turn_epoch, dispatched_at)
  select project_id, agent_turn_id, agent_id, kind, case when turn_epoch > 0 then 'active' else 'queued' end, correlation_id, alias_id, request_hash,
    source_agent_id, channel_id, recursion_depth, trace_id, traceparent, tracestate, parent_traceparent, parent_agent_id, parent_agent_turn_id,
    parent_step_id, profile_box_id, context_box_id, output_box_id, context_owned, output_owned, display_name, payload, runtime_config, metadata,
    context_cards, context_hash, task_hash, chain_version, chain_seq, chain_hash, turn_epoch, case when turn_epoch > 0 then now() end
    from input
   order by ord
),
queued as (
  insert into state.inbox (project_id, inbox_id, agent_id, channel_id, message_type, correlation_id, agent_turn_id, turn_epoch,
                           context_headers, payload, status, claim_id, claim_expires_at, worker, processed_at)
  select project_id, inbox_id, agent_id, channel_id, kind, correlation_id, agent_turn_id, turn_epoch, context_headers, inbox_payload,
         inbox_status, claim_id, now() + make_interval(secs => claim_seconds), worker, case when inbox_status = 'processing' then now() end
    from input
),
asked as (
  insert into state.edges (project_id, edge_id, channel_id, primitive, edge_phase, source_agent_id, source_turn_id, source_step_id,
                           target_agent_id, target_turn_id, correlation_id, recursion_depth, trace_id, parent_step_id)
  select project_id, edge_id, channel_id, 'enqueue', 'request', source_agent_id, source_turn_id, source_step_id, agent_id,
         agent_turn_id, correlation_id, recursion_depth, trace_id, parent_step_id
    from input
  on conflict do nothing
)`;
