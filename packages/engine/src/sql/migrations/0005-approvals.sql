-- What waits for a person, in the order it was asked: few rows among millions.
create index calls_waiting on state.calls (project_id, tool_call_id) where status = 'awaiting_approval';
