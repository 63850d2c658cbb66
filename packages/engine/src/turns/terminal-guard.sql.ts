// The other inbox rows of an agent whose turn is about to end. Read while the head is held.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";
import type { AgentKey } from "./turn.ts";

export interface GuardedKey extends AgentKey {
  /** The row under which the turn is worked on. */
  readonly inboxId: string;
}

export interface OpenRow {
  readonly ord: number;
  readonly inbox_id: string;
  readonly agent_turn_id: string;
  readonly turn_epoch: number;
  readonly turn_ended: boolean;
}

const guarded = setInput<GuardedKey>([
  ["projectId", "text"],
  ["agentId", "text"],
  ["inboxId", "text"],
]);

// As for an advance: the next look sees the rest.
const MAX_ROWS = 500;

export const READ_OPEN_ROWS: Statement = {
  name: "turns.read-open-rows",
  text: `
select i.ord::int as ord, r.inbox_id, r.agent_turn_id, r.turn_epoch::float8 as turn_epoch,
       coalesce((select t.ended_at is not null from state.turns t
                  where t.project_id = i.project_id and t.agent_turn_id = r.agent_turn_id), false) as turn_ended
  from ${guarded.from}
 cross join lateral (
   select q.inbox_id, q.agent_turn_id, q.turn_epoch from state.inbox q
    where q.project_id = i.project_id and q.agent_id = i.agent_id and q.archived_at is null and q.status <> 'queued'
      and q.inbox_id <> i.inbox_id
    limit ${MAX_ROWS}) r
 order by i.ord`,
};

export const bindGuarded = (rows: readonly GuardedKey[]): unknown[] => guarded.bind(rows);
