// Claiming where calls of sessions or pinned calls wait, and where services of one target run different definitions.
//
// A session gives its first due call, and only while none of its calls runs. All looks at the same time see the same first call,
// so only one of them gets it. Where two looks differ (a call was committed or became due between them), the unique index lets
// one through, and the other looks again. The walk goes from session to session, not from call to call.
//
// A pinned call (`pin: strict`) is taken only by a service that names its definition. In a session it is passed over with its
// session: the calls behind it must not overtake it. All other calls may go to any service. Where services run different
// definitions, each takes the calls of its own definitions first, out of the oldest PREFERRED_AMONG calls, and fills up with
// others: a bound, because looking for its own through a long queue would read all of it.
//
// A limited call is taken by a statement of its own (gates/). In a session it is passed over with its session, for the same reason.

import {
  CLAIMS,
  IS_DUE,
  IS_GIVEN,
  isBusy,
  LIMITED_CALLS_WAIT,
  LIMITED_WAIT,
  mayRun,
  SESSION_STATE,
  sayWaiting,
  sharedByLane,
  take,
  UNSAFE_CALLS_WAIT,
} from "../calls/lease.sql.ts";
import { WALK_SESSIONS } from "../calls/walk-queued.sql.ts";
import type { Statement } from "../sql/database.ts";

/** As many as one claim takes at most. */
const PREFERRED_AMONG = 256;

/** Takes up to `max` queued calls per (project, target), with and without a session; a pair must occur once per statement. */
export const CLAIM_WITH_SESSIONS: Statement = {
  name: "calls.claim-with-sessions",
  text: `
with wanted as materialized (select i.*, ${LIMITED_CALLS_WAIT} as limited_wait from ${CLAIMS.from}),
heads as materialized (
  select w.ord, w.project_id, w.lease_id, w.holder, w.lease_seconds, w.max, w.sessions_first, h.tool_call_id, row_number() over (partition by w.ord order by h.available_at, h.tool_call_id) as place
    from wanted w
   cross join lateral (
     ${WALK_SESSIONS}
     select first.*
       from walk k
      cross join lateral (
        select tool_call_id, available_at, pin, gate, retry_safe from state.live_calls
         where project_id = w.project_id and target = w.target and session is not null and session = k.session and ${IS_DUE}
         order by available_at, tool_call_id limit 1) first
      where k.session is not null and not ${isBusy("k.session")} and first.gate is null and (first.retry_safe or not w.safe_only) and (first.pin is null or ${mayRun("first.pin")})
      order by first.available_at, first.tool_call_id
      limit w.max) h
),
due as materialized (
  select w.ord, c.*, l.lanes, w.prefers and c.definition_hash = any (string_to_array(w.named, ',')) as own
    from wanted w${sharedByLane(
      `case when w.prefers then greatest(w.max, ${PREFERRED_AMONG}) else w.max end`,
      "ctid as place, retry_safe, available_at, tool_call_id, definition_hash",
    )}
  union all
  select w.ord, c.*, 1, w.prefers
    from wanted w
   cross join lateral unnest(string_to_array(w.pins, ',')) as d (hash)
   cross join lateral (
     select ctid as place, retry_safe, available_at, tool_call_id, definition_hash
       from state.live_calls
      where project_id = w.project_id and target = w.target and pin is not null and pin = d.hash and gate is null and session is null and ${IS_DUE} and ${IS_GIVEN}
      order by available_at, tool_call_id
      limit w.max
        for update skip locked) c
  union all
  select w.ord, c.*, 1, false
    from wanted w
   cross join lateral (
     select ctid as place, retry_safe, available_at, tool_call_id, definition_hash
       from state.live_calls
      where project_id = w.project_id and target = w.target and pin is not null and gate is null and session is null and ${IS_DUE} and ${IS_GIVEN}
      order by pin, available_at, tool_call_id
      limit w.max
        for update skip locked) c
   where w.pins = '*'
),
free as materialized (
  select w.ord, w.lease_id, w.holder, w.lease_seconds, d.place, d.retry_safe as forgettable, d.lanes
    from (select *, row_number() over (partition by ord order by own desc, available_at, tool_call_id) as turn from due) d
    join wanted w on w.ord = d.ord
   where d.turn <= case when w.sessions_first then w.max - (select count(*) from heads h where h.ord = w.ord) else w.max end
),
picked as materialized (
  select * from free
  union all
  select h.ord, h.lease_id, h.holder, h.lease_seconds, c.place, false, 1
    from heads h
   cross join lateral (
     select ctid as place
       from state.live_calls
      where project_id = h.project_id and tool_call_id = h.tool_call_id and ${IS_DUE}
        for update skip locked) c
   where h.sessions_first or h.place <= h.max - (select count(*) from free f where f.ord = h.ord)
),${take("c.ctid = p.place", SESSION_STATE)}
union all${sayWaiting(`('${LIMITED_WAIT}', w.limited_wait), ${UNSAFE_CALLS_WAIT}`)}`,
};
