// A project, and one row in each table that a project can have rows in. $1 project everywhere.

export const MEDDLE_PROJECTS = {
  addProject: "insert into resource.projects (project_id, title, owner_id) values ($1, 't', 'o')",
  oneCallKey: "insert into state.call_keys values ($1, 'agent_a', 'count_words', 'key', 'tc_done')",
  oneCallLease: `
insert into state.call_leases (project_id, tool_call_id, lease_id, attempt, ended)
values ($1, 'tc_done', 'l', 1, 'lapsed')`,
  oneCallDiagnostics: "insert into state.call_diagnostics values ($1, 'tc_done', 'Error', 'm', 's')",
  oneStep: `
insert into state.steps (project_id, agent_id, step_id, agent_turn_id, channel_id, status)
values ($1, 'a', 's', 't', 'public', 'done')`,
  oneInboxRow: `
insert into state.inbox (project_id, inbox_id, agent_id, channel_id, message_type, correlation_id, agent_turn_id, turn_epoch, context_headers, payload)
values ($1, 'i', 'a', 'public', 'turn', 'c', 't', 1, '{}', '{}')`,
  oneEdge: `
insert into state.edges (project_id, edge_id, channel_id, primitive, edge_phase, source_agent_id, target_agent_id, correlation_id, recursion_depth)
values ($1, 'e', 'public', 'enqueue', 'request', 'a', 'b', 'c', 0)`,
  oneTurn: `
insert into state.turns (project_id, agent_turn_id, agent_id, kind, status, correlation_id, request_hash, source_agent_id,
  channel_id, recursion_depth, trace_id, traceparent, profile_box_id, context_box_id, output_box_id, context_owned,
  output_owned, payload, runtime_config, metadata, ended_at)
  values ($1, 't', 'a', 'turn', 'success', 'c', 'h', 'sys.api', 'public', 0, 't', 't', 'p', 'c', 'o', true, true, '{}', '{}', '{}', now())`,
  oneIdentityEdge: `
insert into state.identity_edges (project_id, edge_id, channel_id, action, target_agent_id)
values ($1, 'e', 'public', 'create', 'a')`,
  oneBatch: `
insert into state.batches (project_id, batch_id, status, parent_tool_call_id, parent_agent_id, parent_agent_turn_id, deadline_at)
values ($1, 'b', 'success', 'c', 'a', 't', now())`,
  oneBatchTask: `
insert into state.batch_tasks (project_id, batch_id, task_index, agent_id, task)
values ($1, 'b', 0, 'a', '{}')`,
  oneSession: `
insert into state.sessions (project_id, session, agent_id, target, state)
values ($1, 's', 'a', 't', '{}')`,
  oneDeadLetter: `
insert into state.dead_letters (project_id, dead_letter_id, kind, subject, headers, payload, code, reason, attempts)
values ($1, 'd', 'call', 's', '{}', '{}', 'c', 'r', 1)`,
  oneTombstone: `
insert into state.tombstones (project_id, agent_turn_id, links, cards, ended_at)
values ($1, 'turn_old', 2, 2, now())`,
  oneGate: "insert into state.gates (project_id, gate) values ($1, 't')",
  oneLingeringRun: `
insert into state.lingering_runs (project_id, tool_call_id, gate, ended_as, held_until)
values ($1, 'c', 't', 'canceled', now())`,
  oneWebhook: `
insert into resource.webhooks (project_id, webhook_id, url, events, secret, key_id, created_by)
values ($1, 'w', 'u', '{}', 's', 'k', 'sys.api')`,
  oneWebhookReader: "insert into state.webhook_readers (project_id, position) values ($1, '0')",
  oneWebhookDelivery: `
insert into state.webhook_deliveries (project_id, delivery_id, webhook_id, order_key, event, body)
values ($1, 'd', 'w', 'c', 'e', '{}')`,
  oneAttachedTarget: "insert into bus.attached_targets (project_id, target) values ($1, 't')",
  oneMessage: `
insert into bus.messages (category, project_id, subject, component, target, headers, payload)
values ('evt', $1, 's', 'agent', 'a', '{}', '{}')`,
  oneSentEvent: `
insert into bus.sent_events (xid, id, project_id, subject, headers, payload, created_at)
select xid, id, project_id, subject, headers, payload, created_at from bus.messages where project_id = $1`,
  oneToken: "insert into resource.tokens (token_id, secret_hash, role, project_id) values ($1, 'h', 'viewer', $1)",
  /** A project whose deletion was cut short. */
  archiveProject: "update resource.projects set status = 'archived' where project_id = $1",
  losePastCalls: "delete from state.past_calls where project_id = $1",
  runHeadsOf: "update state.heads set status = 'running' where project_id = $1",
} as const;
