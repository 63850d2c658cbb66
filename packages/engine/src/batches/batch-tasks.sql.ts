// Statements of a batch's tasks: given to agents, ended, refused, canceled.

import { given, inputOf } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";

// A task is always looked up within its batch. Written this way, its status does not lead the planner to the indexes of pending
// or dispatched tasks, which hold the tasks of all batches.
const PENDING = "status || '' = 'pending'";
const DISPATCHED = "status || '' = 'dispatched'";

export interface EndedRow {
  readonly task_index: number;
  readonly status: string;
  readonly deliverable_card_id: string | null;
  readonly output_box_id: string;
  readonly error: string | null;
  readonly error_code: string | null;
  readonly body: string | null;
}

// "offset 0" makes each lookup use its whole key.
/** Children that have ended and whose tasks do not know it yet. $1 project, $2 batch, $3 limit. */
export const READ_ENDED: Statement = {
  name: "batches.read-ended",
  text: `
select t.task_index, u.status, u.deliverable_card_id, u.output_box_id, u.error, u.error_code, k.body
  from state.batch_tasks t
 cross join lateral (select * from state.turns x where x.project_id = $1 and x.agent_turn_id = t.agent_turn_id offset 0) u
  left join lateral (select body from cards.cards x where x.project_id = $1 and x.card_id = u.deliverable_card_id offset 0) k on true
 where t.project_id = $1 and t.batch_id = $2 and t.${DISPATCHED} and u.ended_at is not null
 order by t.task_index
 limit $3
   for update of t skip locked`,
};

const ends = inputOf({
  projectId: given<string>("text"),
  batchId: given<string>("text"),
  taskIndex: given<number>("integer"),
  status: given<string>("text"),
  error: given<string | null>("text"),
  resultView: given<string>("text"),
  outputBoxId: given<string>("text"),
});

export const END_TASKS: Statement = {
  name: "batches.end-tasks",
  text: `
update state.batch_tasks t
   set status = i.status, error = i.error, result_view = i.result_view, output_box_id = i.output_box_id
  from ${ends.from}
 where t.project_id = any (array[i.project_id]) and t.batch_id = i.batch_id and t.task_index = i.task_index and t.${DISPATCHED}`,
};

export const bindEnds = ends.bind;

export interface ClaimedTaskRow {
  readonly task_index: number;
  readonly agent_id: string;
  readonly attempts: number;
  readonly task: string;
}

/** The next task to be given to its agent; none once the batch closes. $1 project, $2 batch. */
export const CLAIM_TASK: Statement = {
  name: "batches.claim-task",
  text: `
select t.task_index, t.agent_id, t.attempts, t.task
  from state.batch_tasks t
  join state.batches b on b.project_id = any (array[t.project_id]) and b.batch_id = t.batch_id
 where t.project_id = $1 and t.batch_id = $2 and t.${PENDING} and t.next_attempt_at <= now()
   and b.ended_at is null and b.deadline_at > now()
   and exists (select from state.live_calls c
                where c.project_id = b.project_id and c.tool_call_id = b.parent_tool_call_id offset 0)
   and not (b.fail_fast and exists (
         select from state.batch_tasks x
          where x.project_id = b.project_id and x.batch_id = b.batch_id and x.status in ('failed', 'canceled', 'timeout') offset 0))
 order by t.task_index
 limit 1
   for update of t skip locked`,
};

/** $1 project, $2 batch, $3 task, $4 turn, $5 output box. */
export const TASK_DISPATCHED: Statement = {
  name: "batches.task-dispatched",
  text: `
update state.batch_tasks
   set status = 'dispatched', agent_turn_id = $4, output_box_id = $5, attempts = attempts + 1, error = null
 where project_id = $1 and batch_id = $2 and task_index = $3::int`,
};

/** $1 project, $2 batch, $3 task, $4 attempts before, $5 status, $6 error, $7 seconds until the next. */
export const TASK_REFUSED: Statement = {
  name: "batches.task-refused",
  text: `
update state.batch_tasks
   set status = $5, attempts = attempts + 1, error = $6, next_attempt_at = now() + make_interval(secs => $7::double precision)
 where project_id = $1 and batch_id = $2 and task_index = $3::int and ${PENDING} and attempts = $4::int`,
};

/** Waits for a process that is making a child of one of them. $1 project, $2 batch, $3 reason. */
export const CANCEL_PENDING: Statement = {
  name: "batches.cancel-pending",
  text: `
update state.batch_tasks set status = 'canceled', error = $3 where project_id = $1 and batch_id = $2 and ${PENDING}`,
};

/** $1 project, $2 batch. */
export const READ_DISPATCHED: Statement = {
  name: "batches.read-dispatched",
  text: `
select task_index, agent_turn_id from state.batch_tasks
 where project_id = $1 and batch_id = $2 and ${DISPATCHED}
 order by task_index`,
};

/** $1 project, $2 batch, $3 task. */
export const LOCK_DISPATCHED: Statement = {
  name: "batches.lock-dispatched",
  text: `
select agent_turn_id, agent_id from state.batch_tasks
 where project_id = $1 and batch_id = $2 and task_index = $3::int and ${DISPATCHED}
   for update skip locked`,
};

/** $1 project, $2 batch, $3 task, $4 status, $5 reason. */
export const TASK_STOPPED: Statement = {
  name: "batches.task-stopped",
  text: `
update state.batch_tasks set status = $4, error = $5
 where project_id = $1 and batch_id = $2 and task_index = $3::int and ${DISPATCHED}`,
};
