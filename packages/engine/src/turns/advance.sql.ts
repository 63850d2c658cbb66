// What a suspended turn waits for. Read while its agent's head is held.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";
import type { TurnKey } from "./turn.ts";

// A result is read only where it may end the turn (`aggregateStep`): results can be large, and the others only add a card to the box. A
// further way to end a turn by a result needs a condition here, or its results are not read.
/** The calls of a turn of the project of `i` in one epoch, in the order it asked for them, with what became of them. */
export const waitedCalls = (turn: string, epoch: string): string => `
    select c.tool_call_id, c.step_id, c.status, c.settled_at is not null as settled, c.applied_at is not null as applied,
           c.result_chain_seq is not null as released, c.result_card_id, k.hash as card_hash, c.approval_hash,
           case when c.after_execution = 'terminate' or position('__cg_control' in k.body) > 0 then k.body end as body,
           s.new_card_ids as step_card_ids, s.metadata as step_metadata,
           floor(extract(epoch from coalesce(c.run_deadline, c.queue_deadline + make_interval(secs => c.timeout_seconds))) * 1000)::float8
             as deadline_ms
      from (select * from state.calls q
             where q.project_id = i.project_id and q.agent_turn_id = ${turn} and q.turn_epoch = ${epoch} and not q.headless
            offset 0) c
      left join cards.cards k on k.project_id = any (array[c.project_id]) and k.card_id = c.result_card_id
      left join state.steps s on s.project_id = any (array[c.project_id]) and s.agent_id = c.agent_id and s.step_id = c.step_id
     order by c.tool_call_id`;

export interface WaitKey extends TurnKey {
  readonly turnEpoch: number;
}

const waits = setInput<WaitKey>([
  ["projectId", "text"],
  ["agentTurnId", "text"],
  ["turnEpoch", "bigint"],
]);

export const READ_WAITED: Statement = {
  name: "turns.read-waited",
  text: `
select x.* from ${waits.from} cross join lateral (${waitedCalls("i.agent_turn_id", "i.turn_epoch")}) x
 order by i.ord, x.tool_call_id`,
};

export const bindWaits = (rows: readonly WaitKey[]): unknown[] => waits.bind(rows);
