// The command of a call that has not left the outbox. For people who look: commands have no id of their own, so all of the target are
// searched. An id of their own would cost every command an index entry, also where no person ever looks.

import { HEADERS } from "@toolplane/protocol";
import type { Statement } from "../sql/database.ts";

export interface WaitingCommandRow {
  /** How often the relay has tried to send it. */
  readonly tries: number;
  /** When the relay tries it next. */
  readonly due_at: Date;
}

/** $1 project, $2 component, $3 target, $4 call. */
export const READ_WAITING_COMMAND: Statement = {
  name: "outbox_read_waiting_command",
  text: `
select deliveries as tries, available_at as due_at
  from bus.messages
 where category = 'cmd' and component = $2 and target = $3 and project_id = $1
   and strpos(headers, '"${HEADERS.toolCallId}":' || to_json($4::text)::text) > 0
 order by available_at, id
 limit 1`,
};
