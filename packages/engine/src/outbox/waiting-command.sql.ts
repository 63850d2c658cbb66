// The command of a call that has not left the outbox. For people who look: commands have no id of their own, so those of the target
// are searched, as many as are quick to read.

import type { Statement } from "../sql/database.ts";

export interface WaitingCommandRow {
  /** How often the relay has tried to send it. */
  readonly tries: number;
  /** When the relay tries it next. */
  readonly due_at: Date;
}

const READ_LIMIT = 10_000;

/** $1 project, $2 component, $3 target, $4 call. */
export const READ_WAITING_COMMAND: Statement = {
  name: "outbox_read_waiting_command",
  text: `
select c.deliveries as tries, c.available_at as due_at
  from (select project_id, headers, deliveries, available_at from bus.messages
         where category = 'cmd' and component = $2 and target = $3 order by available_at, id limit ${READ_LIMIT}) c
 where c.project_id = $1 and c.headers::json ->> 'CG-Tool-Call-Id' = $4
 limit 1`,
};
