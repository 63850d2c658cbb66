-- Webhooks: addresses that are told what happens to calls and turns. A webhook belongs to a project, or to one call of it. Its secret
-- is sealed with a key that is not in the database; key_id says with which.
create table resource.webhooks (
  project_id   text collate "C" not null references resource.projects on delete cascade,
  webhook_id   text collate "C" not null,
  tool_call_id text collate "C",
  url          text not null,
  events       text[] not null,
  secret       text not null,
  key_id       text collate "C" not null,
  created_by   text not null,
  created_at   timestamptz not null default now(),
  -- of a webhook for one call: the call has ended, and no further event of it comes
  ended_at     timestamptz,
  primary key (project_id, webhook_id)
);
create index webhooks_of_project on resource.webhooks (project_id, webhook_id) where tool_call_id is null;
create index webhooks_open on resource.webhooks (project_id) where ended_at is null;
create index webhooks_of_call on resource.webhooks (project_id, tool_call_id) where tool_call_id is not null;
create index webhooks_by_age on resource.webhooks (created_at);

-- How far the events of a project are read for its webhooks.
create table state.webhook_readers (
  project_id text collate "C" primary key references resource.projects on delete cascade,
  position   text not null,
  read_at    timestamptz not null default now()
);

-- One row per event and webhook. The row is the queue: it is claimed under a lease, and put off when its receiver fails. Deliveries of
-- one webhook that have the same order_key (a call, a turn) are sent one after the other.
create table state.webhook_deliveries (
  project_id  text collate "C" not null,
  delivery_id text collate "C" not null,
  seq         bigint generated always as identity,
  webhook_id  text collate "C" not null,
  order_key   text collate "C" not null,
  event       text not null,
  body        text not null,
  status      text not null default 'pending' check (status in ('pending', 'delivered', 'dead')),
  attempts    integer not null default 0,
  available_at timestamptz not null default now(),
  lease_id    text collate "C",
  last_status integer,
  last_error  text,
  created_at  timestamptz not null default now(),
  ended_at    timestamptz,
  primary key (project_id, delivery_id),
  foreign key (project_id, webhook_id) references resource.webhooks on delete cascade
);
create index webhook_deliveries_due on state.webhook_deliveries (available_at, seq) where status = 'pending';
create index webhook_deliveries_order on state.webhook_deliveries (project_id, webhook_id, order_key, seq) where status = 'pending';
create index webhook_deliveries_of_webhook on state.webhook_deliveries (project_id, webhook_id, delivery_id);
create index webhook_deliveries_ended on state.webhook_deliveries (ended_at) where ended_at is not null;

do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_reader') then
    grant select (project_id, webhook_id, tool_call_id, url, events, created_by, created_at) on resource.webhooks to toolplane_reader;
    grant select on state.webhook_deliveries, state.webhook_readers to toolplane_reader;
  end if;
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant select, insert, update, delete on resource.webhooks, state.webhook_readers, state.webhook_deliveries to toolplane_engine;
  end if;
end $$;
