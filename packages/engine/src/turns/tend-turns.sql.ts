// What the repairs of turns read and change. Rows are locked, and rows that others hold are skipped: any number may run at once.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";
import type { TurnKey } from "./turn.ts";

export interface DueRow {
  readonly project_id: string;
  readonly inbox_id: string;
  readonly agent_id: string;
  readonly channel_id: string;
  readonly message_type: string;
  readonly correlation_id: string;
  readonly agent_turn_id: string;
  readonly turn_epoch: number;
  readonly context_headers: string;
  readonly payload: string;
  readonly status: string;
  readonly retry_count: number;
  readonly rings: number;
  /** How long no worker has taken it since it was last rung; null for a row that was never rung. */
  readonly rung_after_seconds: number | null;
}

const DUE_COLUMNS = `
  r.project_id, r.inbox_id, r.agent_id, r.channel_id, r.message_type, r.correlation_id, r.agent_turn_id,
  r.turn_epoch::float8 as turn_epoch, r.context_headers, r.payload, r.status, r.retry_count, r.rings`;

// A row that no worker takes is rung less and less often: after 5, 10, 20 ... 640 seconds.
const FIRST_RING_SECONDS = 5;
const MAX_DOUBLINGS = 7;
const pauseAfter = (rings: string): string =>
  `make_interval(secs => ${FIRST_RING_SECONDS} * power(2, least(${rings}, ${MAX_DOUBLINGS})))`;

/** Work whose claim has lapsed. $1 limit, $2 and $3 one row or null. */
export const READ_LAPSED: Statement = {
  name: "turns.read-lapsed",
  text: `
select ${DUE_COLUMNS}, null::float8 as rung_after_seconds
  from state.inbox r
 where r.status = 'processing' and r.claim_expires_at <= now()
   and ($2::text is null or (r.project_id = $2::text and r.inbox_id = $3::text))
 order by r.claim_expires_at
 limit $1::int
   for update of r skip locked`,
};

/** Rows whose agent must be rung, longest overdue first. $1 limit, $2 and $3 one row or null. */
export const READ_UNHEARD: Statement = {
  name: "turns.read-unheard",
  text: `
select ${DUE_COLUMNS},
       case when r.rings > 0 then extract(epoch from r.ring_at - ${pauseAfter("r.rings")} - coalesce(t.dispatched_at, r.created_at))::float8 end
         as rung_after_seconds
  from state.inbox r
  left join state.turns t on t.project_id = any (array[r.project_id]) and t.agent_turn_id = r.agent_turn_id and r.message_type <> 'continuation'
 where r.status in ('pending', 'deferred') and r.ring_at <= now()
   and ($2::text is null or (r.project_id = $2::text and r.inbox_id = $3::text))
 order by r.ring_at
 limit $1::int
   for update of r skip locked`,
};

export interface RowKey {
  readonly projectId: string;
  readonly inboxId: string;
}

const rows = setInput<RowKey>([
  ["projectId", "text"],
  ["inboxId", "text"],
]);

export const COUNT_RINGS: Statement = {
  name: "turns.count-rings",
  text: `
update state.inbox r
   set rings = r.rings + 1, ring_at = now() + ${pauseAfter("r.rings + 1")}
  from ${rows.from}
 where r.project_id = any (array[i.project_id]) and r.inbox_id = i.inbox_id`,
};

export const bindRows = (keys: readonly RowKey[]): unknown[] => rows.bind(keys);

/** The rows of a sweep by key, to look at them one by one. $1 limit. */
export const READ_LAPSED_KEYS: Statement = {
  name: "turns.read-lapsed-keys",
  text: `
select project_id, inbox_id from state.inbox where status = 'processing' and claim_expires_at <= now() order by claim_expires_at limit $1::int`,
};

export const READ_UNHEARD_KEYS: Statement = {
  name: "turns.read-unheard-keys",
  text: `
select project_id, inbox_id from state.inbox where status in ('pending', 'deferred') and ring_at <= now() order by ring_at limit $1::int`,
};

/** $1 project, $2 row, $3 seconds. A row that cannot be repaired now does not hold up others. */
export const POSTPONE_ROW: Statement = {
  name: "turns.postpone-row",
  text: `
update state.inbox
   set ring_at = now() + make_interval(secs => $3::double precision),
       claim_expires_at = case when status = 'processing' then now() + make_interval(secs => $3::double precision) end
 where project_id = $1 and inbox_id = $2`,
};

export interface BrokenRow extends RowKey {
  readonly error: string;
  readonly payload: string;
}

const broken = setInput<BrokenRow>([
  ["projectId", "text"],
  ["inboxId", "text"],
  ["error", "text"],
  ["payload", "text"],
]);

export const BREAK_ROWS: Statement = {
  name: "turns.break-rows",
  text: `
update state.inbox r
   set status = 'error', last_error = i.error, payload = i.payload, claim_id = null, claim_expires_at = null, archived_at = now()
  from ${broken.from}
 where r.project_id = any (array[i.project_id]) and r.inbox_id = i.inbox_id`,
};

export const bindBroken = (keys: readonly BrokenRow[]): unknown[] => broken.bind(keys);

/** The row as it is while its agent's head is held. $1 project, $2 row. */
export const READ_ROW: Statement = {
  name: "turns.read-row",
  text: `
select r.status, r.retry_count, coalesce(r.claim_expires_at <= now(), false) as lapsed, r.agent_turn_id, r.turn_epoch::float8 as turn_epoch
  from state.inbox r
 where r.project_id = $1 and r.inbox_id = $2`,
};

export interface OpenTurn {
  readonly project_id: string;
  readonly agent_turn_id: string;
  readonly agent_id: string;
  readonly trouble: "resume" | "reap" | "adrift" | "lost" | "late" | "dispatch" | null;
}

// A row that has not changed for less than this may be in the middle of something.
const STILL = "interval '5 seconds'";

/**
 * Open turns in the order of their keys, and what is wrong with them, if anything: all results are there and were not applied;
 * it runs without a row; its head is in another turn, or is missing and nothing of the turn is left to try; it waits for an idle
 * agent. $1 and $2: after this turn. $3 limit.
 */
export const READ_OPEN_TURNS: Statement = {
  name: "turns.read-open",
  text: `
select t.project_id, t.agent_turn_id, t.agent_id,
       case
         when h.updated_at > now() - ${STILL} then null
         when t.status = 'queued' then
           case when h.status = 'idle' and not exists (select from resource.agents a
             where a.project_id = t.project_id and a.agent_id = t.agent_id and a.status <> 'active' offset 0) then 'dispatch' end
         when h.project_id is null then
           case when not exists (select from state.live_calls c
             where c.project_id = t.project_id and c.agent_turn_id = t.agent_turn_id and not c.headless)
             and not exists (select from state.inbox r
             where r.project_id = t.project_id and r.agent_id = t.agent_id and r.agent_turn_id = t.agent_turn_id
               and r.archived_at is null and r.status <> 'queued') then 'lost' end
         when h.active_agent_turn_id is distinct from t.agent_turn_id then 'adrift'
         when h.status = 'suspended' and h.resume_deadline < now() then 'late'
         when h.status = 'suspended' then
           case when not exists (select from state.live_calls c
             where c.project_id = t.project_id and c.agent_turn_id = t.agent_turn_id and c.turn_epoch = h.turn_epoch
               and not c.headless) then 'resume' end
         when not exists (select from state.inbox r
           where r.project_id = t.project_id and r.agent_id = t.agent_id and r.agent_turn_id = t.agent_turn_id
             and r.turn_epoch = h.turn_epoch and r.archived_at is null and r.status <> 'queued') then 'reap'
       end as trouble
  from state.turns t
  left join state.heads h on h.project_id = any (array[t.project_id]) and h.agent_id = t.agent_id
 where t.ended_at is null and (t.project_id, t.agent_turn_id) > ($1::text, $2::text)
 order by t.project_id, t.agent_turn_id
 limit $3::int`,
};

export const FIRST_TURN: TurnKey = { projectId: "", agentTurnId: "" };
