// What tests do to the tables of the bus: messages and stream items, past the engine.

export const MEDDLE_BUS = {
  addEarlyStreamItem: "insert into bus.stream_items (origin, subject, payload) values ('slow', $1, 'early')",
  addManyEvents: `
insert into bus.messages (category, project_id, subject, component, target, headers, payload)
  select 'evt', 'demo', $1, 'agent', 'news', '{}', n::text
  from generate_series(1, 9000) n`,
  addParcelOfTwo: `
insert into bus.messages (category, project_id, subject, component, target, headers, payload, events)
  values ('evt', 'p1', 'cg.v1r4.p1.public.evt.agent.a1.call', 'agent', 'a1', '{}', $1, 2)`,
  addOldWakeups: `
insert into bus.messages (category, project_id, subject, component, target, headers, payload, claim_id, deliveries)
  select 'cmd', 'demo', 'cg.v1r4.demo.public.cmd.agent.pool.wakeup', 'agent', 'pool', '{"CG-Agent-Id":"helper"}', '{}',
    case when n = 2 then 'dead' end, n - 1
  from generate_series(1, 2) n`,
  ageMessages: "update bus.messages set created_at = created_at - $1::interval where payload = any($2)",
  ageMessagesFor: "update bus.messages set available_at = available_at - interval '1 minute' where target = any($1)",
  ageSentEvent: "update bus.sent_events set created_at = now() - interval '8 days' where payload = 'old'",
  ageStreamItems: "update bus.stream_items set created_at = now() - interval '2 minutes' where subject = $1",
  forgetEvents: "delete from bus.messages where category = 'evt'",
  loseCommands: "delete from bus.messages where category = 'cmd'",
  pileUpCommands: `
insert into bus.messages (category, project_id, subject, component, target, headers, payload, available_at)
  select category, project_id, subject, component, target, replace(headers, $1, 'another'), payload, now() - interval '1 hour'
  from bus.messages, generate_series(1, $2::int)
  where category = 'cmd'`,
  putOffMessages: "update bus.messages set available_at = now() + interval '300 milliseconds'",
  takeCommands: "delete from bus.messages where category = 'cmd' returning subject, headers::json as headers",
} as const;
