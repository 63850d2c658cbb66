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

/** $next: how many cards from the end of each box; then: how many cards at most in all. */
export const READ_TURN_BOXES: Statement = {
  name: "turns.read-boxes",
  text: `
select i.ord::int as ord, k.body
  from ${boxes.from}
 cross join lateral (
   select x.length from cards.boxes x where x.project_id = i.project_id and x.box_id = i.box_id offset 0) b
 cross join lateral (
   select c.position, c.card_id from cards.box_cards c
    where c.project_id = i.project_id and c.box_id = i.box_id and c.position >= b.length - $${boxes.next}::int
    order by c.position) c
 cross join lateral (
   select q.body from cards.cards q where q.project_id = i.project_id and q.card_id = c.card_id offset 0) k
 order by i.ord, c.position
 limit $${boxes.next + 1}::int`,
};

export const bindBoxes = (keys: readonly BoxKey[], tail: number, most: number): unknown[] => [
  ...boxes.bind(keys),
  tail,
  most,
];
