// Statements of batches. Open batches are few and found by a partial index; everything else goes by the batch's key.

import { given, inputOf } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";

/** $1 project, $2 batch, $3 call, $4 agent, $5 turn, $6 step, $7 fail_fast, $8 seconds until the deadline. */
export const OPEN_BATCH: Statement = {
  name: "batches.open",
  text: `
insert into state.batches (project_id, batch_id, status, parent_tool_call_id, parent_agent_id, parent_agent_turn_id, parent_step_id,
                           fail_fast, deadline_at)
values ($1, $2, 'running', $3, $4, $5, $6, $7::boolean, now() + make_interval(secs => $8::double precision))`,
};

const newTasks = inputOf({
  projectId: given<string>("text"),
  batchId: given<string>("text"),
  taskIndex: given<number>("integer"),
  agentId: given<string>("text"),
  task: given<string>("text"),
});

export const OPEN_TASKS: Statement = {
  name: "batches.open-tasks",
  text: `
insert into state.batch_tasks (project_id, batch_id, task_index, agent_id, task)
select project_id, batch_id, task_index, agent_id, task from ${newTasks.from}`,
};

export const bindNewTasks = newTasks.bind;

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
       c.channel_id, c.headers, t.pending, t.due, t.dispatched, t.bad
  from state.batches b
  left join lateral (
    select tool_call_id, settled_at, channel_id, headers from state.calls x
     where x.project_id = $1 and x.tool_call_id = b.parent_tool_call_id offset 0) c on true
 cross join lateral (
   select count(*) filter (where status = 'pending')::int as pending,
          count(*) filter (where status = 'pending' and next_attempt_at <= now())::int as due,
          count(*) filter (where status = 'dispatched')::int as dispatched,
          count(*) filter (where status in ('failed', 'canceled', 'timeout'))::int as bad
     from state.batch_tasks
    where project_id = b.project_id and batch_id = b.batch_id) t
 where b.project_id = $1 and b.batch_id = $2`,
};

export interface ListedBatchRow {
  readonly batch_id: string;
  readonly status: string;
  readonly parent_tool_call_id: string;
  readonly parent_agent_id: string;
  readonly parent_agent_turn_id: string;
  readonly fail_fast: boolean;
  readonly deadline_at: Date;
  readonly created_at: Date;
  readonly ended_at: Date | null;
  readonly tasks: number;
  readonly open_tasks: number;
}

const LISTED = `
select b.batch_id, b.status, b.parent_tool_call_id, b.parent_agent_id, b.parent_agent_turn_id, b.fail_fast, b.deadline_at, b.created_at,
       b.ended_at, t.tasks, t.open_tasks
  from state.batches b
 cross join lateral (
   select count(*)::int as tasks, count(*) filter (where status in ('pending', 'dispatched'))::int as open_tasks
     from state.batch_tasks where project_id = b.project_id and batch_id = b.batch_id) t`;

/** Newest first: a batch is named after its call, and the ids of calls sort by time. $1 project, $2 before this batch or null, $3 limit. */
export const LIST_BATCHES: Statement = {
  name: "batches.list",
  text: `${LISTED}
 where b.project_id = $1 and b.batch_id < coalesce($2::text, chr(1114111))
 order by b.project_id desc, b.batch_id desc
 limit $3::int`,
};

/** $1 project, $2 batch. */
export const READ_LISTED_BATCH: Statement = {
  name: "batches.read-listed",
  text: `${LISTED}
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

// "offset 0" makes each question a lookup: the planner would otherwise read a whole table once and hash it, which is right only
// while the table is small.
/** With fail_fast: a child that no worker has begun after this long counts as unreachable. */
const STARVED = `t.status = 'dispatched' and exists (
                          select from state.turns u
                           where u.project_id = t.project_id and u.agent_turn_id = t.agent_turn_id and u.status = 'queued'
                             and u.created_at <= now() - interval '60 seconds' offset 0)`;

/** Open batches that must be looked at. $1 limit. */
export const READ_DUE_BATCHES: Statement = {
  name: "batches.read-due",
  text: `
select b.project_id, b.batch_id
  from state.batches b
 where b.ended_at is null
   and (b.deadline_at <= now()
     or not exists (select from state.live_calls c
                     where c.project_id = b.project_id and c.tool_call_id = b.parent_tool_call_id offset 0)
     or not exists (select from state.batch_tasks t
                     where t.project_id = b.project_id and t.batch_id = b.batch_id and t.status in ('pending', 'dispatched') offset 0)
     or exists (select from state.batch_tasks t
                 where t.project_id = b.project_id and t.batch_id = b.batch_id
                   and (t.status = 'pending' and t.next_attempt_at <= now()
                     or b.fail_fast and (t.status in ('failed', 'canceled', 'timeout') or ${STARVED})
                     or t.status = 'dispatched' and exists (
                          select from state.turns u
                           where u.project_id = t.project_id and u.agent_turn_id = t.agent_turn_id and u.ended_at is not null offset 0))
                 offset 0))
 order by b.deadline_at
 limit $1`,
};

// The tasks of the batch first, by their key: the index of dispatched tasks would lead over those of the whole project.
/** $1 project, $2 batch. */
export const READ_STARVED: Statement = {
  name: "batches.read-starved",
  text: `
select t.task_index
  from (select * from state.batch_tasks where project_id = $1 and batch_id = $2 offset 0) t
 where ${STARVED}
 order by t.task_index`,
};

/** The batches of turns that are children. $1 project, $2 turn. */
export const READ_BATCH_OF_TURN: Statement = {
  name: "batches.read-of-turn",
  text: `
select batch_id from state.batch_tasks where project_id = $1 and agent_turn_id = $2 and status = 'dispatched'`,
};

// A batch that has not ended is `running`; asked this way it is found by its key and not by the index of open ones.
/** The process that gets the row ends the batch. $1 project, $2 batch. */
export const LOCK_BATCH: Statement = {
  name: "batches.lock",
  text: `
select fail_fast, parent_tool_call_id from state.batches
 where project_id = $1 and batch_id = $2 and status = 'running'
   for update skip locked`,
};

/** $1 project, $2 batch, $3 status. */
export const END_BATCH: Statement = {
  name: "batches.end",
  text: `
update state.batches set status = $3, ended_at = now() where project_id = $1 and batch_id = $2 and status = 'running'`,
};
