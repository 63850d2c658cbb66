// What ends with a turn that is ended from outside: its open calls, its open rows, its open steps.

import { FACT_COLUMNS } from "../calls/read.sql.ts";
import type { Statement } from "../sql/database.ts";

// Without an order: with one, the planner would read all calls of the project in that order.
// The transaction that ends a turn holds its agent's head and needs its calls. A run of the project manager's tools holds its call
// and needs the head of an agent, which may be the same one. Waiting for a held call could deadlock, so it is skipped: see `whenFree`.
/** $1 project, $2 turn. */
export const READ_OPEN_CALLS: Statement = {
  name: "turns.read-open-calls",
  text: `
select ${FACT_COLUMNS}
  from state.live_calls c
 where c.project_id = $1 and c.agent_turn_id = $2 and not c.headless
   for update of c nowait`,
};

/** $1 project, $2 agent, $3 turn. A process that held one of them finds its claim gone. */
export const CONSUME_ROWS: Statement = {
  name: "turns.consume-rows",
  text: `
update state.inbox r
   set status = 'consumed', claim_id = null, claim_expires_at = null, archived_at = now(), processed_at = coalesce(r.processed_at, now())
 where r.project_id = $1 and r.agent_id = $2 and r.agent_turn_id = $3 and r.archived_at is null and r.status <> 'queued'`,
};

/** $1 project, $2 turn, $3 error. Steps under way: those that wait for results, and one that was begun. */
export const FAIL_STEPS: Statement = {
  name: "turns.fail-steps",
  text: `
update state.steps s
   set status = 'failed', error = $3::text, ended_at = now()
 where s.project_id = $1 and s.agent_turn_id = $2 and s.ended_at is null
returning s.step_id, s.new_card_ids`,
};

/** $1 project, $2 agent, $3 turn, $4 reason. */
export const SKIP_QUEUED: Statement = {
  name: "turns.skip-queued",
  text: `
update state.inbox r
   set status = 'skipped', defer_reason = 'canceled', last_error = $4::text, archived_at = now(), processed_at = now(),
       payload = (r.payload::jsonb || jsonb_build_object('cancel_reason', $4::text))::text
 where r.project_id = $1 and r.agent_id = $2 and r.agent_turn_id = $3 and r.status = 'queued'`,
};
