// Parcels: the events that one statement tells of one agent's calls, in one row of the log. The row's headers are those that all of
// them have; each line of its payload is one event: epoch, traceparent and payload, with tabs between. No other row and no
// index entry is written for an event, and everything that carries, keeps and deletes messages treats a parcel as one.

import { HEADERS } from "@toolplane/protocol";

export const LINE_END = "chr(10)";
export const FIELD_END = "chr(9)";

/** The line as an event of its own: what every event of the turn says in its headers is put to those of the row. */
const headersOf = (row: string, line: string): string => `
  (${row}.headers::jsonb || jsonb_strip_nulls(jsonb_build_object(
     '${HEADERS.turnEpoch}', split_part(${line}, ${FIELD_END}, 1),
     '${HEADERS.traceparent}', nullif(split_part(${line}, ${FIELD_END}, 2), ''),
     '${HEADERS.turnId}', nullif(split_part(${line}, ${FIELD_END}, 3)::json ->> 'agent_turn_id', ''))))::text`;

/** Rows (part, headers, payload): the events of a message. */
export const eventParts = (row: string): string => `
  select 0 as part, ${row}.headers as headers, ${row}.payload as payload where ${row}.events = 0
  union all
  select l.part::int, ${headersOf(row, "l.line")}, split_part(l.line, ${FIELD_END}, 3)
    from string_to_table(case when ${row}.events > 0 then ${row}.payload end, ${LINE_END}) with ordinality l (line, part)`;
