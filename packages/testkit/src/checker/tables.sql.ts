// The checker's own reading of the tables. It knows the schema and nothing of the code that writes it.

export const BEGIN_SNAPSHOT = "begin isolation level repeatable read read only";

export const READ_CALLS = `
select project_id, tool_call_id, status, error_code, agent_id, agent_turn_id, step_id, headless, idempotency_key, retry_safe,
       retry_of, after_execution, call_card_id, call_card_hash, chain_hash, attempts, lease_id, due_at is not null as watched,
       result_card_id, result_hash, result_chain_seq, result_chain_hash, approval_hash, settled_by, settled_at is not null as settled, tool_name,
       started_at = created_at as matched
  from state.calls`;

export const READ_KEYS = "select project_id, agent_id, tool_name, idempotency_key, tool_call_id from state.call_keys";

export const READ_CARDS = `
select project_id, card_id, type, author_id, tool_call_id, agent_turn_id, step_id, hash, body, chain_seq, chain_hash, candidate
  from cards.cards`;

export const READ_INBOX = `
select project_id, agent_id, agent_turn_id, correlation_id, message_type, payload, archived_at is not null as archived
  from state.inbox`;

export const READ_STEPS = `
select project_id, agent_id, agent_turn_id, step_id, tool_call_ids, ended_at is not null as ended from state.steps`;

export const READ_TURNS = `
select project_id, agent_turn_id, agent_id, status, ended_at is not null as ended, deliverable_card_id, chain_seq, chain_hash,
       chain_version, task_hash, source_agent_id, kind, payload, runtime_config, metadata, context_cards, context_hash,
       array(select b.card_id from cards.box_cards b
              where b.project_id = t.project_id and b.box_id = t.context_box_id and t.context_owned and b.position >= t.context_cards)
         as opening_cards
  from state.turns t`;

export const READ_HEADS = `
select project_id, agent_id, status, active_agent_turn_id from state.heads where status <> 'idle'`;

export const READ_DEAD_LETTERS = `
select project_id, dead_letter_id, kind, tool_call_id, code, replayed_as from state.dead_letters`;

/** Events stay in the log on the postgres bus; everything else that is here has not left. */
export const READ_MESSAGES = `
select id::text, category, subject, message_id, payload from bus.messages where category = 'cmd'
union all
select id::text, 'evt', subject, message_id, payload from bus.events where not sent`;

/** In the order of the log. Events that share a row are its lines; the last field of a line is the event. */
export const READ_CALL_EVENTS = `
select m.id::text, m.project_id, e.line as payload
  from (select id, project_id, subject, payload from bus.messages where category = 'evt'
        union all
        select id, project_id, subject, payload from bus.sent_events) m
 cross join lateral string_to_table(m.payload, chr(10)) with ordinality e (line, nth)
 where m.subject like '%.evt.agent.%.call'
 order by m.id, e.nth`;

/** Whether anything is still under way; cheap enough to ask often. */
export const COUNT_OPEN = `
select (select count(*) from state.calls where settled_at is null)::int as calls,
       (select count(*) from state.turns where ended_at is null)::int as turns,
       (select count(*) from bus.messages where category = 'cmd')::int as commands,
       (select count(*) from bus.messages where category = 'evt')::int as events`;
