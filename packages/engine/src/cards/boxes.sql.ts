// Statements of boxes. The box row is the lock: appending and replacing hold it, so positions are given out in one order and a
// list is never half old and half new.

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

/** $1 project, $2 box, $3 cards. One statement, one commit; the update makes later appends wait for this one. */
export const APPEND_TO_BOX: Statement = {
  name: "boxes.append",
  text: `
with box as (
  update cards.boxes set length = length + cardinality($3::text[]), updated_at = now()
   where project_id = $1 and box_id = $2
  returning length
),
appended as (
  insert into cards.box_cards (project_id, box_id, position, card_id)
  select $1, $2, box.length - cardinality($3::text[]) + i.ord - 1, i.card_id
    from box, unnest($3::text[]) with ordinality as i (card_id, ord)
)
select length from box`,
};

/** $1 project, $2 box, $3 new length. The first statement of a replacement: the following ones see every earlier append. */
export const LOCK_BOX: Statement = {
  name: "boxes.lock",
  text: `
update cards.boxes set length = $3::int, updated_at = now() where project_id = $1 and box_id = $2 returning length`,
};

export const CLEAR_BOX: Statement = {
  name: "boxes.clear",
  text: "delete from cards.box_cards where project_id = $1 and box_id = $2",
};

/** $1 project, $2 box, $3 cards. */
export const FILL_BOX: Statement = {
  name: "boxes.fill",
  text: `
insert into cards.box_cards (project_id, box_id, position, card_id)
select $1, $2, i.ord - 1, i.card_id from unnest($3::text[]) with ordinality as i (card_id, ord)`,
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

export const HAS_BOX: Statement = {
  name: "boxes.has",
  text: "select from cards.boxes where project_id = $1 and box_id = $2",
};
