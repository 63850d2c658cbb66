// The limited calls that could pass their gates now, in the order in which they would. plan-passage.ts decides which of them do.

import { mayRun } from "../calls/lease.sql.ts";
import { given, inputOf } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";

/** A call of a session waits while another call of the session runs, and until the earlier calls of the session have passed. */
const SESSION_ALLOWS = `(q.session is null or ((
  select 1 from state.live_calls r
   where r.project_id = q.project_id and r.session = q.session and r.status = 'running' and r.session is not null limit 1) is null and (
  select 1 from state.live_calls e
   where e.project_id = q.project_id and e.target = q.target and e.session is not null and e.session = q.session and e.status = 'queued'
     and (e.available_at, e.tool_call_id) < (q.available_at, q.tool_call_id)
   order by e.available_at, e.tool_call_id limit 1) is null))`;

const PIN_ALLOWS = `(q.pin is null or ${mayRun("q.pin")})`;

export interface WaitingCallRow {
  readonly ord: number;
  readonly gate: string;
  readonly lane: string;
  readonly tool_call_id: string;
}

const lines = inputOf({
  ord: given<number>("integer"),
  projectId: given<string>("text"),
  target: given<string>("text"),
  gate: given<string>("text"),
  afterLane: given<string>("text"),
  pins: given<string>("text"),
  most: given<number>("integer"),
  /** Only calls of services that never lease. */
  plainOnly: given<boolean>("boolean"),
  /** Only calls that may run again. */
  safeOnly: given<boolean>("boolean"),
});

const IN_LINE =
  "project_id = w.project_id and target = w.target and gate is not null and gate = w.gate and status = 'queued'";

/** The lanes of a line from `first` on. */
const lanesFrom = (name: string, first: string): string => `
     ${name} as (
       (select lane from state.live_calls where ${IN_LINE} and ${first} order by lane limit 1)
       union all
       select (select q.lane from state.live_calls q where ${IN_LINE} and q.lane > k.lane order by q.lane limit 1)
         from ${name} k where k.lane is not null)`;

/** A lane whose calls are all for later does not count. */
const LANE_IS_DUE = `k.lane is not null and (select 1 from state.live_calls
       where ${IN_LINE} and lane = k.lane and available_at <= now() order by available_at limit 1) is not null`;

/** The calls that could pass these gates: the first `most` calls of each lane, of up to twice as many lanes, beginning after `after_lane`. */
export const READ_WAITING_CALLS: Statement = {
  name: "gates.read-waiting-calls",
  text: `
with wanted as materialized (select * from ${lines.from.replace(", ord)", ", place)")})
select w.ord, w.gate, l.lane, c.tool_call_id
  from wanted w
 cross join lateral (
   with recursive${lanesFrom("later", "lane > w.after_lane")},${lanesFrom("earlier", "lane <= w.after_lane")}
   (select k.lane from later k where ${LANE_IS_DUE} limit w.most)
   union
   (select k.lane from earlier k where ${LANE_IS_DUE} limit w.most)) l
 cross join lateral (
   select q.tool_call_id from state.live_calls q
    where q.project_id = w.project_id and q.target = w.target and q.gate is not null and q.gate = w.gate and q.lane = l.lane
      and q.status = 'queued' and q.available_at <= now() and q.queue_deadline > now() and ${SESSION_ALLOWS} and ${PIN_ALLOWS}
      and (q.plain or not w.plain_only) and (q.retry_safe or not w.safe_only)
    order by q.available_at, q.tool_call_id
    limit w.most) c`,
};

export const bindLines = lines.bind;

const named = inputOf({
  projectId: given<string>("text"),
  toolCallId: given<string>("text"),
  agentTurnId: given<string>("text"),
  callCardId: given<string>("text"),
  pins: given<string>("text"),
});

/** What could pass the gates of calls that services ask for by their ids, because their commands came over a bus. */
export const READ_NAMED_CALLS: Statement = {
  name: "gates.read-named-calls",
  text: `
with wanted as materialized (select * from ${named.from})
select w.ord::int - 1 as ord, c.gate, c.lane, c.tool_call_id
  from wanted w
 cross join lateral (
   select q.gate, q.lane, q.tool_call_id from state.live_calls q
    where q.project_id = w.project_id and q.tool_call_id = w.tool_call_id and q.agent_turn_id = w.agent_turn_id
      and q.call_card_id = w.call_card_id and q.gate is not null
      and q.status = 'queued' and q.available_at <= now() and q.queue_deadline > now() and ${SESSION_ALLOWS} and ${PIN_ALLOWS}
   offset 0) c`,
};

export const bindNamed = named.bind;
