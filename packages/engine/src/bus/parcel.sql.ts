// Parcels: the events that one statement tells of one agent's calls, or of one turn, in one row of the log. The row's headers are
// those that all of them have; each line of its payload is one event: epoch, traceparent and payload, with tabs between. A line of a
// turn's parcel goes on with its kind (the last token of its subject), its message type and its message id. No other row and no
// index entry is written for an event, and everything that carries, keeps and deletes messages treats a parcel as one.

import { HEADERS } from "@toolplane/protocol";

export const LINE_END = "chr(10)";
export const FIELD_END = "chr(9)";

/** The last token of the subject of a turn's parcel; each of its events has its kind in this place. */
export const TURN_PARCEL = "turn";

const field = (line: string, nth: number): string => `split_part(${line}, ${FIELD_END}, ${nth})`;

/** The line as an event of its own: what every event of the turn says in its headers is put to those of the row. */
const headersOf = (row: string, line: string): string => `
  (${row}.headers::jsonb || jsonb_strip_nulls(jsonb_build_object(
     '${HEADERS.turnEpoch}', ${field(line, 1)},
     '${HEADERS.traceparent}', nullif(${field(line, 2)}, ''),
     '${HEADERS.turnId}', nullif(${field(line, 3)}::json ->> 'agent_turn_id', ''),
     '${HEADERS.msgType}', nullif(${field(line, 5)}, ''))))::text`;

const subjectOf = (row: string, line: string): string => `
  case when ${field(line, 4)} = '' then ${row}.subject else left(${row}.subject, -${TURN_PARCEL.length}) || ${field(line, 4)} end`;

/** Rows (part, subject, headers, payload, message_id): the events of a message. The id of a message that is one event is in its row. */
export const eventParts = (row: string): string => `
  select 0 as part, ${row}.subject as subject, ${row}.headers as headers, ${row}.payload as payload, null::text as message_id
   where ${row}.events = 0
  union all
  select l.part::int, ${subjectOf(row, "l.line")}, ${headersOf(row, "l.line")}, ${field("l.line", 3)}, nullif(${field("l.line", 6)}, '')
    from string_to_table(case when ${row}.events > 0 then ${row}.payload end, ${LINE_END}) with ordinality l (line, part)`;
