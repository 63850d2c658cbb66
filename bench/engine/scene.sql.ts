// Agents whose steps are measured, each thinking in a turn under a claim: one step each, so nothing has to be put back
// while the clock runs. Made directly: twelve thousand turns spawned and taken would take longer than what is measured.

/** As `thinkingWork` names them. Long after every round: no watchdog takes the claim away. */
const CLAIM = "claim_id = 'claim_' || agent_id, claim_expires_at = now() + interval '1 day'";
const CLAIMED = "'claim_' || agent_id, now() + interval '1 day'";

/** $1 project, $2 how many, $3 the pool that is rung. */
export const MAKE_AGENTS = `
with named as (
  select 'agent_' || lpad(n::text, 6, '0') as agent_id, lpad(to_hex(n), 32, '0') as trace_id from generate_series(1, $2::int) n
),
listed as (
  insert into resource.agents (project_id, agent_id, worker_target) select $1, agent_id, $3 from named
),
boxed as (
  insert into cards.boxes (project_id, box_id) select $1, 'output_' || agent_id from named
),
headed as (
  insert into state.heads (project_id, agent_id, status, active_agent_turn_id, active_channel_id, turn_epoch, output_box_id)
  select $1, agent_id, 'running', 'turn_' || agent_id, 'public', 1, 'output_' || agent_id from named
),
turned as (
  insert into state.turns (project_id, agent_turn_id, agent_id, kind, status, correlation_id, request_hash, source_agent_id,
                           channel_id, recursion_depth, trace_id, traceparent, profile_box_id, context_box_id, output_box_id,
                           context_owned, output_owned, payload, runtime_config, metadata, dispatched_at)
  select $1, 'turn_' || agent_id, agent_id, 'turn', 'active', agent_id, '', 'sys.bench', 'public', 0, trace_id,
         '00-' || trace_id || '-0000000000000001-01', 'profile', 'context', 'output_' || agent_id, false, true, '{}', '{}', '{}', now()
    from named
)
insert into state.inbox (project_id, inbox_id, agent_id, channel_id, message_type, correlation_id, agent_turn_id, turn_epoch,
                         context_headers, payload, status, worker, claim_id, claim_expires_at)
select $1, 'inbox_' || agent_id, agent_id, 'public', 'turn', agent_id, 'turn_' || agent_id, 1, '{}', '{}', 'processing', 'bench', ${CLAIMED}
  from named`;

/** Suspended agents think again under their claim, what was rung for them taken away: roughly what resuming does. $1 project. */
export const RESUME_AGENTS = `
with heard as (delete from bus.messages where project_id = $1),
consumed as (delete from state.inbox where project_id = $1 and message_type <> 'turn'),
claimed as (
  update state.inbox set status = 'processing', ${CLAIM}, archived_at = null
   where project_id = $1 and message_type = 'turn' and status <> 'processing'
)
update state.heads set status = 'running', turn_epoch = 1, waiting_tool_count = 0 where project_id = $1 and status = 'suspended'`;

export const TIDY = ["state.heads", "state.turns", "state.inbox", "bus.messages"].map((table) => `vacuum ${table}`);

export const FIND_PROJECT = "select 1 from resource.projects where project_id = $1";
