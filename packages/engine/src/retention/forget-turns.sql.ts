// Forgetting turns that ended: with their calls, steps, inbox rows and edges, the cards they wrote and the boxes that were
// made for them. A card that a turn only inherited belongs to another, and stays. A tombstone says where the chain ended.
//   What an open turn was given to begin with, a whole box of another turn or cards of it, stays as long as it is open.
//   An agent may go on writing where an earlier turn of it left its output: then the box goes with the last of them.
//   It waits for no lock: a row that another transaction holds is left to the next run.

import { leaveTombstones } from "../history/tombstones.sql.ts";
import type { Statement } from "../sql/database.ts";

export interface NeededRow {
  readonly needed: readonly string[];
  readonly looked: number;
  /** The last open turn that was looked at; null when there was none. */
  readonly last: string | null;
}

// "offset 0" makes PostgreSQL look up each card by its key. Without it, a plan that was made while the tables were empty would read whole tables.
/**
 * The old turns that must stay, because an open turn was given their cards. Looks at the next `$4` open turns. When no turn is old enough to
 * be forgotten, it reads nothing else.
 * $1 project, $2 only turns older than this one, $3 seconds since a turn ended, $4 limit, $5 open turns after this one.
 */
export const READ_NEEDED: Statement = {
  name: "retention.needed-turns",
  text: `
with looked as materialized (
  select agent_turn_id, context_box_id
    from state.turns
   where project_id = $1 and ended_at is null and agent_turn_id > $5
     and (select true from state.turns o
           where o.project_id = $1 and o.agent_turn_id < $2 and o.ended_at < now() - make_interval(secs => $3::double precision)
           limit 1)
   order by project_id, agent_turn_id
   limit $4::int
)
select (select count(*) from looked)::int as looked, (select max(agent_turn_id) from looked) as last,
       array(
         select distinct k.agent_turn_id
           from looked l
          cross join lateral (
            select x.card_id from cards.box_cards x where x.project_id = $1 and x.box_id = l.context_box_id offset 0) x
          cross join lateral (
            select q.agent_turn_id from cards.cards q where q.project_id = $1 and q.card_id = x.card_id offset 0) k
          where k.agent_turn_id < $2 and k.agent_turn_id <> l.agent_turn_id) as needed`,
};

/** $1 project, $2 only turns older than this one, $3 seconds since a turn ended, $4 limit, $5 turns that stay. */
export const FORGET_TURNS: Statement = {
  name: "retention.forget-turns",
  text: `
with aged as materialized (
  select project_id, agent_turn_id, agent_id, context_box_id, output_box_id, context_owned, output_owned, deliverable_card_id, correlation_id,
         chain_hash, chain_seq, ended_at
    from state.turns
   where project_id = $1 and agent_turn_id < $2 and ended_at < now() - make_interval(secs => $3::double precision)
     and (agent_turn_id = any ($5::text[])) is not true
   order by project_id, agent_turn_id
   limit $4::int
     for update skip locked
),
pointing as materialized (
  select o.agent_id, o.output_box_id
    from aged o
   cross join lateral (
     select from state.heads x
      where x.project_id = o.project_id and x.agent_id = o.agent_id and x.last_output_box_id = o.output_box_id offset 0) h
   where o.output_owned
),
held as materialized (
  select h.agent_id
    from pointing p
   cross join lateral (
     select x.agent_id from state.heads x
      where x.project_id = $1 and x.agent_id = p.agent_id for update skip locked) h
),
shared as materialized (
  select o.agent_turn_id, o.output_box_id, h.heir
    from aged o
   cross join lateral (
     select x.agent_turn_id as heir from state.turns x
      where x.output_box_id = o.output_box_id and x.project_id = o.project_id and not x.output_owned
        and (x.agent_turn_id in (select agent_turn_id from aged)) is not true
      order by x.agent_turn_id
      limit 1) h
   where o.output_owned
),
heirs as materialized (
  select x.project_id, s.output_box_id, x.agent_turn_id
    from shared s
   cross join lateral (
     select t.project_id, t.agent_turn_id from state.turns t where t.project_id = $1 and t.agent_turn_id = s.heir for update skip locked) x
),
old as materialized (
  select * from aged o
   where ((o.output_box_id in (select output_box_id from pointing)) is not true or (o.agent_id in (select agent_id from held)) is true)
     and ((o.agent_turn_id in (select agent_turn_id from shared)) is not true
       or (o.output_box_id in (select output_box_id from heirs)) is true)
),
owned as materialized (
  select project_id, agent_turn_id, context_box_id as box_id from old where context_owned
  union all
  select project_id, agent_turn_id, output_box_id from old
   where output_owned and (output_box_id in (select output_box_id from heirs)) is not true
),
inherited as (
  update state.turns t set output_owned = true
    from heirs h
   where t.project_id = any (array[h.project_id]) and t.agent_turn_id = h.agent_turn_id
),
said as (
  delete from cards.cards k using (
    select o.project_id, o.agent_turn_id, c.card_id from old o cross join lateral (
      select unnest(array[q.call_card_id, q.result_card_id, 'approval_' || q.tool_call_id]) as card_id from state.past_calls q
       where q.project_id = o.project_id and q.agent_turn_id = o.agent_turn_id and not q.headless offset 0) c
    union
    select o.project_id, o.agent_turn_id, u.card_id from old o cross join lateral (
      select unnest(s.new_card_ids) as card_id from state.steps s
       where s.project_id = o.project_id and s.agent_turn_id = o.agent_turn_id offset 0) u
    union
    select w.project_id, w.agent_turn_id, b.card_id from owned w cross join lateral (
      select x.card_id from cards.box_cards x cross join lateral (
        select q.agent_turn_id from cards.cards q where q.project_id = x.project_id and q.card_id = x.card_id offset 0) y
       where x.project_id = w.project_id and x.box_id = w.box_id and y.agent_turn_id = w.agent_turn_id offset 0) b
    union
    select project_id, agent_turn_id, deliverable_card_id from old where deliverable_card_id is not null) s
   where k.project_id = any (array[s.project_id]) and k.card_id = s.card_id
  returning s.agent_turn_id
),
left_behind as (${leaveTombstones({ chainHash: "chain_hash", links: "coalesce(chain_seq, 0)", endedAt: "ended_at" })}
),
unboxed as (
  delete from cards.boxes b using owned w where b.project_id = any (array[w.project_id]) and b.box_id = w.box_id
),
unkeyed as (
  delete from state.call_keys k using (
    select c.* from old o cross join lateral (
      select q.project_id, q.agent_id, q.tool_name, q.idempotency_key from state.past_calls q
       where q.project_id = o.project_id and q.agent_turn_id = o.agent_turn_id and not q.headless
         and q.idempotency_key is not null offset 0) c) s
   where k.project_id = any (array[s.project_id]) and k.agent_id = s.agent_id and k.tool_name = s.tool_name
     and k.idempotency_key = s.idempotency_key
),
undiagnosed as (
  delete from state.call_diagnostics d using (
    select c.* from old o cross join lateral (
      select q.project_id, q.tool_call_id from state.past_calls q
       where q.project_id = o.project_id and q.agent_turn_id = o.agent_turn_id and not q.headless offset 0) c) s
   where d.project_id = any (array[s.project_id]) and d.tool_call_id = s.tool_call_id
),
unheld as (
  delete from state.call_leases h where h.ctid = any (array(
    select l.ctid from old o cross join lateral (
      select x.project_id, x.tool_call_id from state.past_calls x
       where x.project_id = o.project_id and x.agent_turn_id = o.agent_turn_id and not x.headless offset 0) c
     cross join lateral (
      select x.ctid from state.call_leases x where x.project_id = c.project_id and x.tool_call_id = c.tool_call_id offset 0) l))
),
uncalled as (
  delete from state.past_calls c where c.ctid = any (array(
    select l.ctid from old o cross join lateral (
      select x.ctid from state.past_calls x
       where x.project_id = o.project_id and x.agent_turn_id = o.agent_turn_id and not x.headless offset 0) l))
),
unstepped as (
  delete from state.steps s where s.ctid = any (array(
    select l.ctid from old o cross join lateral (
      select x.ctid from state.steps x where x.project_id = o.project_id and x.agent_turn_id = o.agent_turn_id offset 0) l))
),
untold as (
  delete from state.inbox r where r.ctid = any (array(
    select l.ctid from old o cross join lateral (
      select x.ctid from state.inbox x
       where x.project_id = o.project_id and x.agent_id = o.agent_id and x.agent_turn_id = o.agent_turn_id offset 0) l))
),
unlinked as (
  delete from state.edges e where e.ctid = any (array(
    select l.ctid from old o cross join lateral (
      select x.ctid from state.edges x
       where x.project_id = o.project_id and x.correlation_id = o.correlation_id and x.primitive = 'enqueue' and x.edge_phase = 'request'
         and x.target_turn_id = o.agent_turn_id
       offset 0) l))
),
unpointed as (
  update state.heads h set last_output_box_id = null
    from old o
   where h.project_id = any (array[o.project_id]) and h.agent_id = o.agent_id and h.last_output_box_id = o.output_box_id
     and (o.output_box_id in (select box_id from owned)) is true
),
gone as (
  delete from state.turns t using old o where t.project_id = any (array[o.project_id]) and t.agent_turn_id = o.agent_turn_id
)
select count(*)::int as forgotten from old`,
};
