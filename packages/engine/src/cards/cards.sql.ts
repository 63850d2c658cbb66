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

const written = setInput<CardRow>([...CARD_COLUMNS, ["ttlSeconds", "double precision"]]);

export const bindCards = written.bind;

/** Rows are ordered by id, so that two writers of the same cards wait for each other instead of deadlocking. */
export const PUT_CARDS: Statement = {
  name: "cards.put",
  text: `
insert into cards.cards (project_id, card_id, type, author_id, tool_call_id, agent_turn_id, step_id, hash, body, expires_at)
select project_id, card_id, type, author_id, tool_call_id, agent_turn_id, step_id, hash, body,
       now() + make_interval(secs => ttl_seconds)
  from ${written.from}
 order by project_id, card_id
    on conflict (project_id, card_id) do update set hash = excluded.hash where cards.hash <> excluded.hash
returning card_id`,
};

export interface StoredBody {
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
select i.ord::int as ord, c.body
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
