// Statements of the card store. I7: a card is only ever inserted; a second write of the same id is compared by hash, and
// another hash becomes an UPDATE that the table's trigger refuses.

import { given, inputOf } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";
import { type InputFields, setInput } from "../sql/input.sql.ts";

export interface CardRow {
  readonly projectId: string;
  readonly cardId: string;
  readonly type: string;
  readonly authorId: string;
  readonly toolCallId: string | null;
  readonly agentTurnId: string | null;
  readonly stepId: string | null;
  readonly hash: string;
  readonly body: string;
  readonly candidate: boolean;
  readonly ttlSeconds: number | null;
}

/** What every writer of cards gives. */
export const CARD_COLUMNS = [
  ["projectId", "text"],
  ["cardId", "text"],
  ["type", "text"],
  ["authorId", "text"],
  ["toolCallId", "text"],
  ["agentTurnId", "text"],
  ["stepId", "text"],
  ["hash", "text"],
  ["body", "text"],
] as const satisfies InputFields<CardRow>;

const written = setInput<CardRow>([...CARD_COLUMNS, ["candidate", "boolean"], ["ttlSeconds", "double precision"]]);

export const bindCards = written.bind;

/** Rows are ordered by id, so that two writers of the same cards wait for each other instead of deadlocking. */
export const PUT_CARDS: Statement = {
  name: "cards.put",
  text: `
insert into cards.cards (project_id, card_id, type, author_id, tool_call_id, agent_turn_id, step_id, hash, body, candidate, expires_at)
select project_id, card_id, type, author_id, tool_call_id, agent_turn_id, step_id, hash, body, candidate,
       now() + make_interval(secs => ttl_seconds)
  from ${written.from}
 order by project_id, card_id
    on conflict (project_id, card_id) do update set hash = excluded.hash where cards.hash <> excluded.hash
returning card_id`,
};

export interface StoredBody {
  readonly card_id: string;
  readonly hash: string;
  readonly body: string;
}

const LIVE = "(c.expires_at is null or c.expires_at > now())";

const keys = inputOf({
  projectId: given<string>("text"),
  cardId: given<string>("text"),
});

export const bindCardKeys = keys.bind;

export const READ_CARDS: Statement = {
  name: "cards.read",
  text: `
select i.ord::int as ord, c.card_id, c.hash, c.body
  from ${keys.from}
  join cards.cards c on c.project_id = any (array[i.project_id]) and c.card_id = i.card_id
 where ${LIVE}`,
};

export interface CardSize {
  readonly card_id: string;
  readonly bytes: number;
}

/** What cards have, without reading them. $1 project, $2 cards. */
export const READ_SIZES: Statement = {
  name: "cards.read-sizes",
  text: `
select c.card_id, octet_length(c.body) as bytes
  from unnest($2::text[]) as i (card_id)
 cross join lateral (select * from cards.cards x where x.project_id = $1 and x.card_id = i.card_id offset 0) c
 where ${LIVE}`,
};

// A call knows its two cards; a result that was written but not reported is found by the call it names. "offset 0" keeps
// that a lookup: a plan made while there are no such results would read all of them ever after.
const OF_CALLS = `
named as (
  select k.call_card_id as card_id from calls k
  union
  select k.result_card_id from calls k where k.result_card_id is not null
  union
  select c.card_id from calls k
   cross join lateral (
     select card_id from cards.cards where project_id = k.project_id and tool_call_id = k.tool_call_id and candidate offset 0) c
)
select c.card_id, c.hash, c.body
  from named n
 cross join lateral (select * from cards.cards x where x.project_id = $1 and x.card_id = n.card_id offset 0) c
 where ${LIVE}`;

/** $1 project, $2 call ids, $3 step or null, $4 type or null; newest first. */
export const READ_CARDS_OF_CALLS: Statement = {
  name: "cards.read-of-calls",
  text: `
with calls as materialized (
  select k.project_id, k.tool_call_id, k.call_card_id, k.result_card_id
    from unnest($2::text[]) as i (tool_call_id)
   cross join lateral (select * from state.calls x where x.project_id = $1 and x.tool_call_id = i.tool_call_id offset 0) k
),${OF_CALLS}
   and ($3::text is null or c.step_id = $3) and ($4::text is null or c.type = $4)
 order by c.written_at desc, c.card_id desc`,
};

/** $1 project, $2 agent, $3 step, $4 type: the newest card of that type among the step's calls. */
export const READ_LATEST_OF_STEP: Statement = {
  name: "cards.read-latest-of-step",
  text: `
with calls as materialized (
  select k.project_id, k.tool_call_id, k.call_card_id, k.result_card_id
    from state.steps s
   cross join lateral unnest(s.tool_call_ids) as i (tool_call_id)
   cross join lateral (select * from state.calls x where x.project_id = $1 and x.tool_call_id = i.tool_call_id offset 0) k
   where s.project_id = $1 and s.agent_id = $2 and s.step_id = $3
),${OF_CALLS} and c.step_id = $3 and c.type = $4
 order by c.written_at desc, c.card_id desc
 limit 1`,
};
