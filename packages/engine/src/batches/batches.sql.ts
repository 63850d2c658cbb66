// Statements of batches. Open batches are few and found by a partial index; everything else goes by the batch's key.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";

/** $1 project, $2 batch, $3 call, $4 agent, $5 turn, $6 step, $7 fail_fast, $8 seconds until the deadline. */
export const OPEN_BATCH: Statement = {
  name: "batches.open",
  text: `
insert into state.batches (project_id, batch_id, status, parent_tool_call_id, parent_agent_id, parent_agent_turn_id, parent_step_id,
                           fail_fast, deadline_at)
values ($1, $2, 'running', $3, $4, $5, $6, $7::boolean, now() + make_interval(secs => $8::double precision))`,
};

export interface NewTaskRow {
  readonly projectId: string;
  readonly batchId: string;
  readonly taskIndex: number;
  readonly agentId: string;
  readonly task: string;
}

const newTasks = setInput<NewTaskRow>([
  ["projectId", "text"],
  ["batchId", "text"],
  ["taskIndex", "integer"],
  ["agentId", "text"],
  ["task", "text"],
]);

export const OPEN_TASKS: Statement = {
  name: "batches.open-tasks",
  text: `
insert into state.batch_tasks (project_id, batch_id, task_index, agent_id, task)
select project_id, batch_id, task_index, agent_id, task from ${newTasks.from}`,
};

export const bindNewTasks = (rows: readonly NewTaskRow[]): unknown[] => newTasks.bind(rows);

/** $1 project, $2 edge, $3 phase, $4 source, $5 batch, $6 metadata; the rest is the call's own. $7 call. */
export const JOIN_EDGE: Statement = {
  name: "batches.join-edge",
  text: `
insert into state.edges (project_id, edge_id, channel_id, primitive, edge_phase, source_agent_id, target_agent_id, target_turn_id,
                         correlation_id, recursion_depth, trace_id, parent_step_id, metadata)
select c.project_id, $2, c.channel_id, 'join', $3, $4, c.agent_id, c.agent_turn_id, $5, c.recursion_depth, c.trace_id, c.step_id, $6::jsonb
  from state.calls c
 where c.project_id = $1 and c.tool_call_id = $7
    on conflict do nothing`,
};

export interface BatchRow {
  readonly status: string;
  readonly parent_tool_call_id: string;
  readonly parent_agent_id: string;
  readonly parent_agent_turn_id: string;
  readonly parent_step_id: string | null;
  readonly fail_fast: boolean;
  readonly deadline_at: Date;
  readonly ended_at: Date | null;
  readonly overdue: boolean;
  readonly parent_ended: boolean;
  readonly headless: boolean;
  readonly channel_id: string | null;
  readonly headers: string | null;
  readonly pending: number;
  readonly due: number;
  readonly dispatched: number;
  readonly bad: number;
}

/** A batch with how its tasks and its call stand. $1 project, $2 batch. */
export const READ_BATCH: Statement = {
  name: "batches.read",
  text: `
select b.status, b.parent_tool_call_id, b.parent_agent_id, b.parent_agent_turn_id, b.parent_step_id, b.fail_fast, b.deadline_at, b.ended_at,
       b.deadline_at <= now() as overdue, (c.tool_call_id is null or c.settled_at is not null) as parent_ended,
       coalesce(c.headless, true) as headless, c.channel_id, c.headers, t.pending, t.due, t.dispatched, t.bad
  from state.batches b
  left join state.calls c on c.project_id = b.project_id and c.tool_call_id = b.parent_tool_call_id
 cross join lateral (
   select count(*) filter (where status = 'pending')::int as pending,
          count(*) filter (where status = 'pending' and next_attempt_at <= now())::int as due,
          count(*) filter (where status = 'dispatched')::int as dispatched,
          count(*) filter (where status in ('failed', 'canceled', 'timeout'))::int as bad
     from state.batch_tasks
    where project_id = b.project_id and batch_id = b.batch_id) t
 where b.project_id = $1 and b.batch_id = $2`,
};

export interface TaskRow {
  readonly task_index: number;
  readonly status: string;
  readonly agent_id: string;
  readonly agent_turn_id: string | null;
  readonly output_box_id: string | null;
  readonly attempts: number;
  readonly error: string | null;
  readonly result_view: string | null;
}

/** $1 project, $2 batch. */
export const READ_TASKS: Statement = {
  name: "batches.read-tasks",
  text: `
select task_index, status, agent_id, agent_turn_id, output_box_id, attempts, error, result_view
  from state.batch_tasks
 where project_id = $1 and batch_id = $2
 order by task_index`,
};

/** Open batches somebody must look at. $1 limit. */
export const READ_DUE_BATCHES: Statement = {
  name: "batches.read-due",
  text: `
select b.project_id, b.batch_id
  from state.batches b
 where b.ended_at is null
   and (b.deadline_at <= now()
     or not exists (select from state.calls c
                     where c.project_id = b.project_id and c.tool_call_id = b.parent_tool_call_id and c.settled_at is null)
     or not exists (select from state.batch_tasks t
                     where t.project_id = b.project_id and t.batch_id = b.batch_id and t.status in ('pending', 'dispatched'))
     or exists (select from state.batch_tasks t
                 where t.project_id = b.project_id and t.batch_id = b.batch_id
                   and (t.status = 'pending' and t.next_attempt_at <= now()
                     or b.fail_fast and t.status in ('failed', 'canceled', 'timeout')
                     or t.status = 'dispatched' and exists (
                          select from state.turns u
                           where u.project_id = t.project_id and u.agent_turn_id = t.agent_turn_id and u.ended_at is not null))))
 order by b.deadline_at
 limit $1`,
};

/** Whose children turns are. $1 project, $2 turn. */
export const READ_BATCH_OF_TURN: Statement = {
  name: "batches.read-of-turn",
  text: `
select batch_id from state.batch_tasks where project_id = $1 and agent_turn_id = $2 and status = 'dispatched'`,
};

export interface EndedRow {
  readonly task_index: number;
  readonly status: string;
  readonly deliverable_card_id: string | null;
  readonly output_box_id: string;
  readonly error: string | null;
  readonly error_code: string | null;
  readonly body: string | null;
}

/** Children that have ended and whose tasks do not know it yet. $1 project, $2 batch, $3 limit. */
export const READ_ENDED: Statement = {
  name: "batches.read-ended",
  text: `
select t.task_index, u.status, u.deliverable_card_id, u.output_box_id, u.error, u.error_code, k.body
  from state.batch_tasks t
  join state.turns u on u.project_id = t.project_id and u.agent_turn_id = t.agent_turn_id and u.ended_at is not null
  left join cards.cards k on k.project_id = u.project_id and k.card_id = u.deliverable_card_id
 where t.project_id = $1 and t.batch_id = $2 and t.status = 'dispatched'
 order by t.task_index
 limit $3
   for update of t skip locked`,
};

export interface EndTaskRow {
  readonly projectId: string;
  readonly batchId: string;
  readonly taskIndex: number;
  readonly status: string;
  readonly error: string | null;
  readonly resultView: string;
  readonly outputBoxId: string;
}

const ends = setInput<EndTaskRow>([
  ["projectId", "text"],
  ["batchId", "text"],
  ["taskIndex", "integer"],
  ["status", "text"],
  ["error", "text"],
  ["resultView", "text"],
  ["outputBoxId", "text"],
]);

export const END_TASKS: Statement = {
  name: "batches.end-tasks",
  text: `
update state.batch_tasks t
   set status = i.status, error = i.error, result_view = i.result_view, output_box_id = i.output_box_id
  from ${ends.from}
 where t.project_id = i.project_id and t.batch_id = i.batch_id and t.task_index = i.task_index and t.status = 'dispatched'`,
};

export const bindEnds = (rows: readonly EndTaskRow[]): unknown[] => ends.bind(rows);

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
  join state.batches b on b.project_id = t.project_id and b.batch_id = t.batch_id
 where t.project_id = $1 and t.batch_id = $2 and t.status = 'pending' and t.next_attempt_at <= now()
   and b.ended_at is null and b.deadline_at > now()
   and exists (select from state.calls c
                where c.project_id = b.project_id and c.tool_call_id = b.parent_tool_call_id and c.settled_at is null)
   and not (b.fail_fast and exists (
         select from state.batch_tasks x
          where x.project_id = b.project_id and x.batch_id = b.batch_id and x.status in ('failed', 'canceled', 'timeout')))
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
 where project_id = $1 and batch_id = $2 and task_index = $3::int and status = 'pending' and attempts = $4::int`,
};

/** Waits for whoever is making a child of one of them. $1 project, $2 batch, $3 reason. */
export const CANCEL_PENDING: Statement = {
  name: "batches.cancel-pending",
  text: `
update state.batch_tasks set status = 'canceled', error = $3 where project_id = $1 and batch_id = $2 and status = 'pending'`,
};

/** $1 project, $2 batch. */
export const READ_DISPATCHED: Statement = {
  name: "batches.read-dispatched",
  text: `
select task_index, agent_turn_id from state.batch_tasks
 where project_id = $1 and batch_id = $2 and status = 'dispatched'
 order by task_index`,
};

/** $1 project, $2 batch, $3 task. */
export const LOCK_DISPATCHED: Statement = {
  name: "batches.lock-dispatched",
  text: `
select agent_turn_id from state.batch_tasks
 where project_id = $1 and batch_id = $2 and task_index = $3::int and status = 'dispatched'
   for update skip locked`,
};

/** $1 project, $2 batch, $3 task, $4 reason. */
export const TASK_STOPPED: Statement = {
  name: "batches.task-stopped",
  text: `
update state.batch_tasks set status = 'canceled', error = $4
 where project_id = $1 and batch_id = $2 and task_index = $3::int and status = 'dispatched'`,
};

/** The one who gets the row ends the batch. $1 project, $2 batch. */
export const LOCK_BATCH: Statement = {
  name: "batches.lock",
  text: `
select fail_fast, parent_tool_call_id from state.batches
 where project_id = $1 and batch_id = $2 and ended_at is null
   for update skip locked`,
};

/** $1 project, $2 batch, $3 status. */
export const END_BATCH: Statement = {
  name: "batches.end",
  text: `
update state.batches set status = $3, ended_at = now() where project_id = $1 and batch_id = $2 and ended_at is null`,
};
