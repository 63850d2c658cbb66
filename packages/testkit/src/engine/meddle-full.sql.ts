// Rows that have ended, in the tables that grow with use beside those of calls: events, batches, and items of streams.

export const MEDDLE_FULL = {
  fillEvents: `
insert into bus.messages (category, project_id, subject, component, target, headers, payload)
select 'evt', 'p', 'cg.v1r4.p.public.evt.agent.a.task', 'agent', 'a', '{}', '{}' from generate_series(1, 100000)`,
  fillCommands: `
insert into bus.messages (category, project_id, subject, component, target, headers, payload)
select 'cmd', 'p', 'cg.v1r4.p.public.cmd.tool.t' || n % 50 || '.run', 'tool', 't' || n % 50, '{}', '{}'
  from generate_series(1, 5000) n`,
  fillStreams:
    "insert into bus.stream_items (origin, subject, payload) select 'o', 's', 'x' from generate_series(1, 20000)",
  fillBatches: `
insert into state.batches (project_id, batch_id, status, parent_tool_call_id, parent_agent_id, parent_agent_turn_id, deadline_at, ended_at)
select 'p', 'b' || n, 'success', 'c' || n, 'a', 't', now(), case when n > 5 then now() end from generate_series(1, 10000) n`,
  fillTasks: `
insert into state.batch_tasks (project_id, batch_id, task_index, status, agent_id, agent_turn_id, task)
select 'p', 'b' || n, i, 'success', 'a', 't' || n || '_' || i, '{}' from generate_series(1, 10000) n, generate_series(0, 4) i`,
  analyzeFull: "analyze bus.messages, bus.stream_items, state.batches, state.batch_tasks",
} as const;
