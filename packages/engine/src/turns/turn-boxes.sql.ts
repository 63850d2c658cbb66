// The boxes of turns with their cards, in one read.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";

export interface BoxKey {
  readonly projectId: string;
  readonly boxId: string;
}

const boxes = setInput<BoxKey>([
  ["projectId", "text"],
  ["boxId", "text"],
]);

export interface BoxCardRow {
  readonly ord: number;
  readonly card_id: string;
  readonly type: string;
  readonly bytes: number;
  /** Null for a long card, and after the bytes of a turn. */
  readonly body: string | null;
}

/** $next: how many cards from the end of each box; how many cards at most in all; the longest body; the bytes of a turn's bodies. */
export const READ_TURN_BOXES: Statement = {
  name: "turns.read-boxes",
  text: `
select ord, card_id, type, bytes,
       case when bytes <= $${boxes.next + 2}::int and sum(bytes) filter (where bytes <= $${boxes.next + 2}::int)
         over (partition by (ord - 1) / 2 order by ord, position) <= $${boxes.next + 3}::int then body end as body
  from (
    select i.ord::int as ord, c.position, c.card_id, k.type, k.bytes, k.body
      from ${boxes.from}
     cross join lateral (
       select x.length from cards.boxes x where x.project_id = i.project_id and x.box_id = i.box_id offset 0) b
     cross join lateral (
       select c.position, c.card_id from cards.box_cards c
        where c.project_id = i.project_id and c.box_id = i.box_id and c.position >= b.length - $${boxes.next}::int
        order by c.position) c
     cross join lateral (
       select q.type, q.body, octet_length(q.body) as bytes
         from cards.cards q where q.project_id = i.project_id and q.card_id = c.card_id offset 0) k
     order by i.ord, c.position
     limit $${boxes.next + 1}::int) listed
 order by ord, position`,
};

export interface BoxBounds {
  readonly tail: number;
  readonly cards: number;
  readonly cardBytes: number;
  readonly turnBytes: number;
}

export const bindBoxes = (keys: readonly BoxKey[], bounds: BoxBounds): unknown[] => [
  ...boxes.bind(keys),
  bounds.tail,
  bounds.cards,
  bounds.cardBytes,
  bounds.turnBytes,
];

/** $1 project, $2 cards. Also those whose time is over: a turn that has begun keeps what it began with. */
export const READ_LONG_CARDS: Statement = {
  name: "turns.read-long-cards",
  text: `
select k.body
  from unnest($2::text[]) with ordinality as i (card_id, ord)
 cross join lateral (select q.body from cards.cards q where q.project_id = $1 and q.card_id = i.card_id offset 0) k
 order by i.ord`,
};
