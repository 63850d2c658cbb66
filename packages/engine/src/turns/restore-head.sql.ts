// What is still known of a turn whose head is gone.

import type { Statement } from "../sql/database.ts";

/** The last epoch in which anything was asked of the turn or by it. $1 project, $2 turn. */
export const READ_LAST_EPOCH: Statement = {
  name: "turns.read-last-epoch",
  text: `
select greatest((select max(r.turn_epoch) from state.inbox r
                  where r.project_id = t.project_id and r.agent_id = t.agent_id and r.agent_turn_id = t.agent_turn_id),
                (select max(c.turn_epoch) from state.calls c
                  where c.project_id = t.project_id and c.agent_turn_id = t.agent_turn_id and not c.headless))::float8 as epoch
  from state.turns t
 where t.project_id = $1 and t.agent_turn_id = $2`,
};
