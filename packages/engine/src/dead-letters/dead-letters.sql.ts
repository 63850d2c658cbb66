// Dead letters: read, and marked once when a person replays one.

import type { Statement } from "../sql/database.ts";

const columns = (headers: string, payload: string): string => `
  project_id, dead_letter_id, kind, tool_call_id, subject, ${headers}, ${payload}, code, reason, attempts, created_at, replayed_at, replayed_as`;
const COLUMNS = columns("headers", "payload");

/** A message may have a megabyte, and a list has five hundred of them. */
const short = (column: string): string =>
  `case when octet_length(${column}) <= 16384 then ${column} else '' end as ${column}`;

export interface DeadLetterStateRow {
  readonly project_id: string;
  readonly dead_letter_id: string;
  readonly kind: "call" | "message";
  readonly tool_call_id: string | null;
  readonly subject: string;
  readonly headers: string;
  readonly payload: string;
  readonly code: string;
  readonly reason: string;
  readonly attempts: number;
  readonly created_at: Date;
  readonly replayed_at: Date | null;
  readonly replayed_as: string | null;
}

/** Without long headers and payloads. $1 project, $2 before this id or null, $3 limit. */
export const LIST_DEAD: Statement = {
  name: "dead.list",
  text: `
select ${columns(short("headers"), short("payload"))} from state.dead_letters
 where project_id = $1 and ($2::text is null or dead_letter_id < $2::text)
 order by project_id desc, dead_letter_id desc
 limit $3`,
};

export const READ_DEAD: Statement = {
  name: "dead.read",
  text: `select ${COLUMNS} from state.dead_letters where project_id = $1 and dead_letter_id = $2`,
};

/** The newest letter of a call, if it has one; a call has few. */
export const DEAD_OF_CALL: Statement = {
  name: "dead.of-call",
  text: `select ${COLUMNS} from state.dead_letters where project_id = $1 and tool_call_id = $2 order by created_at desc limit 1`,
};

/** The first replay wins; later ones are told what it was replayed as. */
export const MARK_REPLAYED: Statement = {
  name: "dead.mark-replayed",
  text: `
update state.dead_letters set replayed_at = now(), replayed_as = $3
 where project_id = $1 and dead_letter_id = $2 and replayed_at is null
returning dead_letter_id`,
};

export const READ_CALL_CARD: Statement = {
  name: "dead.read-call-card",
  text: `
select c.tool_name, c.agent_id, c.channel_id, k.body
  from state.calls c
 cross join lateral (select body from cards.cards x where x.project_id = $1 and x.card_id = c.call_card_id offset 0) k
 where c.project_id = $1 and c.tool_call_id = $2`,
};

/** A message that could not be delivered is put back as a new one. */
export const REPUBLISH: Statement = {
  name: "dead.republish",
  text: `
with letter as (
  update state.dead_letters set replayed_at = now(), replayed_as = $3
   where project_id = $1 and dead_letter_id = $2 and replayed_at is null and kind = 'message'
  returning *
)
insert into bus.messages (category, project_id, subject, component, target, headers, payload, message_id)
select split_part(subject, '.', 5), project_id, subject, split_part(subject, '.', 6), split_part(subject, '.', 7), headers, payload, $3
  from letter
returning id`,
};
