// Which commands on a carrier are over.

import { given, inputOf, type RowIn } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";

const keys = inputOf({
  projectId: given<string>("text"),
  toolCallId: given<string>("text"),
});

export type CommandKey = RowIn<typeof keys>;

/** Commands whose call is known and no longer waits to be started; an unknown call is not in the answer. */
export const ANSWERED: Statement = {
  name: "carrier.answered",
  text: `
select i.ord::int as ord
  from ${keys.from}
 cross join lateral (
   select from state.calls c
    where c.project_id = i.project_id and c.tool_call_id = i.tool_call_id
      and c.status not in ('queued', 'awaiting_approval')
   offset 0) over`,
};

export const bindCommands = (commands: readonly CommandKey[]): unknown[] => keys.bind(commands);
