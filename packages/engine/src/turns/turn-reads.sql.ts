// Reading turns: while a turn lives, its head says what it does.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";
import type { TurnKey } from "./turn.ts";
import { TURN_VIEW_COLUMNS } from "./turn-row.ts";

const keys = setInput<TurnKey>([
  ["projectId", "text"],
  ["agentTurnId", "text"],
]);

const VIEW = `${TURN_VIEW_COLUMNS}, h.status as head_status, h.turn_epoch::float8 as head_epoch, h.waiting_tool_count,
       t.created_at, t.dispatched_at, t.ended_at`;

const HEAD = `
  left join lateral (select q.status, q.turn_epoch, q.waiting_tool_count from state.heads q
    where q.project_id = t.project_id and q.agent_id = t.agent_id and q.active_agent_turn_id = t.agent_turn_id offset 0) h on true`;

export const READ_TURN_VIEWS: Statement = {
  name: "turns.read-views",
  text: `
select i.ord::int as ord, ${VIEW}
  from ${keys.from}
  join state.turns t on t.project_id = any (array[i.project_id]) and t.agent_turn_id = i.agent_turn_id${HEAD}`,
};

export const bindTurnKeys = (rows: readonly TurnKey[]): unknown[] => keys.bind(rows);

/** Which of these turns have ended. */
export const READ_ENDED: Statement = {
  name: "turns.read-ended",
  text: `
select i.ord::int as ord
  from ${keys.from}
  join state.turns t on t.project_id = any (array[i.project_id]) and t.agent_turn_id = i.agent_turn_id and t.ended_at is not null`,
};

// The agent, the parent and the whole project each have an index that ends with the turn's id, which sorts by time.
const FILTERS = `
   and ($2::text is null or t.agent_turn_id < $2::text) and ($5::text is null or t.agent_turn_id >= $5::text)
   and ($4::text is null or (case when t.status = 'active' then h.status else t.status end) = $4::text)
 order by t.agent_turn_id desc
 limit $3::int`;

const OF_PROJECT = "t.project_id = $1";

const list = (name: string, condition: string): Statement => ({
  name: `turns.list${name}`,
  text: `
select ${VIEW}
  from state.turns t${HEAD}
 where ${condition}${FILTERS}`,
});

const AGENT = " and ($7::text is null or t.agent_id = $7::text)";

/** Newest first. $1 project, $2 before this turn, $3 limit, $4 status, $5 from this turn on; $2, $4 and $5 or null. */
export const LIST_TURNS = list("", OF_PROJECT);
/** $6 agent. */
export const LIST_TURNS_OF_AGENT = list("-of-agent", `${OF_PROJECT} and t.agent_id = $6::text`);
/** $6 parent turn, $7 agent or null. */
export const LIST_TURNS_OF_PARENT = list("-of-parent", `${OF_PROJECT} and t.parent_agent_turn_id = $6::text${AGENT}`);
/** $6 trace, $7 agent or null. */
export const LIST_TURNS_OF_TRACE = list(
  "-of-trace",
  `(t.project_id || ' ' || t.trace_id) = ($1::text || ' ' || $6::text)${AGENT}`,
);
/** $6 error code, $7 agent or null. */
export const LIST_TURNS_OF_ERROR = list(
  "-of-error",
  `(t.project_id || ' ' || t.error_code) = ($1::text || ' ' || $6::text) and t.error_code is not null${AGENT}`,
);

/** $1 project, $2 turn. */
export const LIST_STEPS: Statement = {
  name: "turns.list-steps",
  text: `
select s.step_id, s.agent_id, s.agent_turn_id, s.status, s.tool_call_ids, s.error, s.metadata, s.started_at, s.ended_at
  from state.steps s
 where s.project_id = $1 and s.agent_turn_id = $2
 order by s.started_at, s.step_id`,
};
