// The time of a suspended turn is over. $1 turn.

export const MAKE_LATE =
  "update state.heads set resume_deadline = now() - interval '1 second', updated_at = now() - interval '1 hour' where active_agent_turn_id = $1 and resume_deadline is not null returning 1";
