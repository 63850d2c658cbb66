-- What lists of calls and turns are asked by: tool, agent, error and trace. Every index ends with the id, which sorts by time, so a page is
-- a look-up however long the past is. A settlement pays for one of them, the tool's; the others hold few of the calls:
--   agent  not the calls of the API itself, which are most of a busy plane; a list of those is a list of all
--   error  only what failed
--   trace  only traces that callers brought: a trace that the plane made has the time of its call in its first digits
--          (ten digits are a quarter of a second), and is found among the calls of that moment
-- The project is part of the first column: with the project as a column of its own, a look-up by another key that is planned while the
-- table is empty may take one of these indexes, and read the whole project ever after. A project id has no space.
create index past_calls_of_tool on state.past_calls ((project_id || ' ' || tool_name), tool_call_id);
create index past_calls_of_agent on state.past_calls ((project_id || ' ' || agent_id), tool_call_id) where agent_id <> 'sys.api';
create index past_calls_of_error on state.past_calls ((project_id || ' ' || error_code), tool_call_id) where error_code is not null;
create index past_calls_of_trace on state.past_calls ((project_id || ' ' || trace_id), tool_call_id)
 where headless and "left"(trace_id, 10) <> "left"(tool_call_id, 10);
create index turns_of_trace on state.turns ((project_id || ' ' || trace_id), agent_turn_id);
create index turns_of_error on state.turns ((project_id || ' ' || error_code), agent_turn_id) where error_code is not null;
