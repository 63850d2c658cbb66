-- A bus beside the database may carry messages. Then bus.messages holds what has not left yet, and nothing else.

-- What was put off (a call for later, a bus that is away) must not be walked over to find what is due.
create index messages_due on bus.messages (available_at, id);

-- Events that have left. They keep their place in the log: readers by position see no difference, on whichever bus.
create table bus.sent_events (
  xid        xid8 not null,
  id         bigint not null,
  project_id text collate "C" not null,
  subject    text collate "C" not null,
  headers    text not null,
  payload    text not null,
  created_at timestamptz not null,
  primary key (xid, id)
);

-- Who carries messages: one row. After a change to an external bus the events of transactions before `moving_before` are
-- still on their way to sent_events, without being sent: they were delivered where they were.
create table bus.carrier (
  one           boolean primary key default true check (one),
  kind          text not null check (kind in ('postgres', 'external')),
  moving_before xid8
);
insert into bus.carrier (kind) values ('postgres');

do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_reader') then
    grant select on bus.sent_events, bus.carrier to toolplane_reader;
  end if;
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant select, insert, update, delete on bus.sent_events, bus.carrier to toolplane_engine;
  end if;
end $$;
