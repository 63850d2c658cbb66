// Statements of boxes. Turns append to boxes by statements of their own (turns/write-turns.sql.ts).

import type { Statement } from "../sql/database.ts";

/** $1 project, $2 box, $3 parents, $4 cards. */
export const CREATE_BOX: Statement = {
  name: "boxes.create",
  text: `
with box as (
  insert into cards.boxes (project_id, box_id, parent_ids, length) values ($1, $2, $3::text[], cardinality($4::text[]))
)
insert into cards.box_cards (project_id, box_id, position, card_id)
select $1, $2, i.ord - 1, i.card_id from unnest($4::text[]) with ordinality as i (card_id, ord)`,
};

export interface BoxRow {
  readonly box_id: string;
  readonly parent_ids: readonly string[];
  readonly length: number;
  readonly card_ids: readonly string[];
}

/** $1 project, $2 boxes, $3 at most so many cards from the end of each (null: all). */
export const READ_BOXES: Statement = {
  name: "boxes.read",
  text: `
select b.box_id, b.parent_ids, b.length,
       array(select c.card_id from cards.box_cards c
              where c.project_id = b.project_id and c.box_id = b.box_id and c.position >= b.length - coalesce($3::int, b.length)
              order by c.position) as card_ids
  from unnest($2::text[]) as i (box_id)
 cross join lateral (select * from cards.boxes x where x.project_id = $1 and x.box_id = i.box_id offset 0) b`,
};
