// Limited calls of services that never lease: their commands are held until their gate lets them pass, and then sent once. A sent call is
// running, without a lease: it holds its slot until it settles or its deadline comes.

import type { CallKey } from "../calls/call.ts";
import { TOLD_SENT, tellOf } from "../calls/call-events.sql.ts";
import { IS_DUE } from "../calls/lease.sql.ts";
import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";

/** Spelt as the condition of the index. */
const IS_HELD = "plain and gate is not null and status = 'queued'";

/** How many places one look reads; the next look begins behind them. */
export const MOST_PLACES = 256;

export interface HeldPlaceRow {
  readonly project_id: string;
  readonly target: string;
}

/** The targets where such calls wait, by one look at the index for each. $1 and $2: behind this project and target. */
export const READ_HELD_PLACES: Statement = {
  name: "gates.read-held-places",
  text: `
with recursive walk as (
  (select project_id, target from state.live_calls where ${IS_HELD} and (project_id, target) > ($1::text, $2::text) order by project_id, target limit 1)
  union all
  select n.project_id, n.target
    from walk w
   cross join lateral (
     select project_id, target from state.live_calls
      where ${IS_HELD} and (project_id, target) > (w.project_id, w.target) order by project_id, target limit 1) n
)
select project_id, target from walk limit ${MOST_PLACES}`,
};

const passed = setInput<CallKey>([
  ["projectId", "text"],
  ["toolCallId", "text"],
]);

// The payload has names and ids only, none of which needs an escape; the same bytes as commandPayloadText.
const PAYLOAD = `'{"after_execution":"' || after_execution || '","tool_call_card_id":"' || call_card_id || '","tool_name":"' || tool_name || '"}'`;

/** Sends the commands of the calls that pass; their time to run counts from now. */
export const SEND_PASSED: Statement = {
  name: "gates.send-passed",
  text: `
with picked as materialized (
  select w.ord, c.*
    from ${passed.from.replace(" as i (", " as w (")}
   cross join lateral (
     select project_id, tool_call_id from state.live_calls
      where project_id = w.project_id and tool_call_id = w.tool_call_id and plain and ${IS_DUE}
        for update skip locked) c
),
passed as (
  update state.live_calls c
     set status = 'running', started_at = now(), publishes = c.publishes + 1,
         run_deadline = now() + make_interval(secs => c.timeout_seconds), due_at = now() + make_interval(secs => c.timeout_seconds)
    from picked p
   where c.project_id = any (array[p.project_id]) and c.tool_call_id = p.tool_call_id
  returning p.ord, c.*
),
told as (${tellOf("passed c", "c", [TOLD_SENT])}
)
insert into bus.messages (category, project_id, subject, component, target, headers, payload, available_at)
select 'cmd', project_id, subject, split_part(subject, '.', 6), target, headers, ${PAYLOAD}, now()
  from passed
 order by ord
returning 1 as sent`,
};

export const bindHeldCalls = passed.bind;
