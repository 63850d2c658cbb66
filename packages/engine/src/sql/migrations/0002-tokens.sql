-- API tokens. Only a hash is kept; the id is public, the secret is shown once.
create table resource.tokens (
  token_id    text collate "C" primary key,
  secret_hash text collate "C" not null,
  role        text not null check (role in ('admin', 'operator', 'agent', 'tool', 'viewer')),
  project_id  text collate "C" references resource.projects on delete cascade,
  actor_id    text collate "C",
  targets     text[] not null default '{}',
  label       text not null default '',
  created_at  timestamptz not null default now(),
  expires_at  timestamptz,
  revoked_at  timestamptz,
  -- everybody but an admin belongs to one project; a tool token names its actor and its targets
  check (role = 'admin' or project_id is not null),
  check (role <> 'tool' or (actor_id is not null and cardinality(targets) > 0))
);

do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_reader') then
    grant select (token_id, role, project_id, actor_id, targets, label, created_at, expires_at, revoked_at)
      on resource.tokens to toolplane_reader;
  end if;
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant select, insert, update, delete on resource.tokens to toolplane_engine;
  end if;
end $$;
