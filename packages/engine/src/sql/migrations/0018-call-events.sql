-- What happens to a call is told in the log of events, by the statement that does it. Events that one statement tells of one
-- agent's calls are one row, a parcel: `events` says how many lines its payload has. 0: the payload is the event.
alter table bus.messages add column events integer not null default 0;
alter table bus.sent_events add column events integer not null default 0;

-- Readers by position go on by id. A transaction has to be known as open before it takes an id, or a reader could pass an id
-- without knowing that it is missing: the CASE sees to the order.
create sequence bus.message_ids;
select setval('bus.message_ids', (select last_value from bus.messages_id_seq) + 1, false);
alter table bus.messages alter column id drop identity;
alter table bus.messages
  alter column id set default case when pg_current_xact_id() is not null then nextval('bus.message_ids') end;
-- Only statements that ask for `id > 0` may use it: for others it would be a way to read the whole log.
create index messages_events_of_project on bus.messages (project_id, id) where category = 'evt' and id > 0;
create index sent_events_of_project on bus.sent_events (project_id, id);

-- The leases of a call that ended before the call did: a holder that vanished, gave the call back, or handed it on. The last
-- lease of a call is in the call's own row.
create table state.call_leases (
  project_id   text collate "C" not null,
  tool_call_id text collate "C" not null,
  lease_id     text collate "C" not null,
  attempt      integer not null,
  holder       text,
  started_at   timestamptz,
  ended_at     timestamptz not null default clock_timestamp(),
  ended        text not null check (ended in ('lapsed', 'released', 'handed_on')),
  primary key (project_id, tool_call_id, lease_id)
);

do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_reader') then
    grant select on state.call_leases to toolplane_reader;
  end if;
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant select, insert, update, delete on state.call_leases to toolplane_engine;
    grant usage on sequence bus.message_ids to toolplane_engine;
  end if;
end $$;
