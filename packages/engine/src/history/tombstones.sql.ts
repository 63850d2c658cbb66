// What retention leaves of a turn or a direct call: where its chain ended.

import type { ChainKey } from "../calls/turn-chain.ts";
import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";

export interface TombstoneRow {
  readonly ord: number;
  readonly chain_hash: string | null;
  readonly links: number;
  readonly cards: number;
  readonly ended_at: Date;
  readonly forgotten_at: Date;
}

const keys = setInput<ChainKey>([
  ["projectId", "text"],
  ["agentTurnId", "text"],
]);

export const READ_TOMBSTONES: Statement = {
  name: "history.read-tombstones",
  text: `
select i.ord::int as ord, d.chain_hash, d.links, d.cards, d.ended_at, d.forgotten_at
  from ${keys.from}
 cross join lateral (
   select * from state.tombstones q where q.project_id = i.project_id and q.agent_turn_id = i.agent_turn_id offset 0) d`,
};

export const bindTombstones = keys.bind;

/**
 * Tombstones of the rows of `old` with the number of cards that `said` has deleted. Grouped, not joined: a join of the two would
 * be a nested loop under our settings. A caller may use the id of a forgotten call again: then the tombstone is of the later one.
 */
export const leaveTombstones = (old: {
  readonly chainHash: string;
  readonly links: string;
  readonly endedAt: string;
}): string => `
  insert into state.tombstones (project_id, agent_turn_id, chain_hash, links, cards, ended_at)
  select $1, agent_turn_id, max(chain_hash), max(links), sum(cards), max(ended_at)
    from (select agent_turn_id, ${old.chainHash} as chain_hash, ${old.links} as links, 0 as cards, ${old.endedAt} as ended_at from old
          union all
          select agent_turn_id, null, null, 1, null from said) x
   group by agent_turn_id
  having max(ended_at) is not null
  on conflict (project_id, agent_turn_id) do update
     set chain_hash = excluded.chain_hash, links = excluded.links, cards = excluded.cards, ended_at = excluded.ended_at,
         forgotten_at = excluded.forgotten_at`;

/** Of every project: all are kept for the same time. $1 seconds since the turn was forgotten, $2 limit. */
export const FORGET_TOMBSTONES: Statement = {
  name: "retention.forget-tombstones",
  text: `
with old as materialized (
  select ctid from state.tombstones
   where forgotten_at < now() - make_interval(secs => $1::double precision)
   order by forgotten_at
   limit $2
     for update skip locked
),
gone as (
  delete from state.tombstones d where d.ctid = any (array(select ctid from old)) returning 1
)
select count(*)::int as forgotten from gone`,
};
