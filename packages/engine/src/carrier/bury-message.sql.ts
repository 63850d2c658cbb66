// A lost message, stored before its bus removes it.

import type { Statement } from "../sql/database.ts";

/** $1 project, $2 letter, $3 call or null, $4 subject, $5 headers, $6 payload, $7 code, $8 reason, $9 attempts, $10 lost id. */
export const BURY_LOST: Statement = {
  name: "carrier.bury",
  text: `
insert into state.dead_letters (project_id, dead_letter_id, kind, tool_call_id, subject, headers, payload, code, reason, attempts, lost_id)
values ($1, $2, 'message', $3, $4, $5, $6, $7, $8, $9::int, $10)
on conflict do nothing`,
};
