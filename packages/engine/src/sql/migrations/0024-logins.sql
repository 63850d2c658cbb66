-- Logins of browsers. A login code is the secret of a one-time link: it is used up by the first request that brings it. A browser
-- session is what the code, or a token that a person typed in, is exchanged for. Both act with the rights of a token and end with
-- it. Only hashes are kept.
create table resource.login_codes (
  code_hash  text collate "C" primary key,
  token_id   text collate "C" not null references resource.tokens on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at    timestamptz
);
create index login_codes_expiry on resource.login_codes (expires_at);
create index login_codes_of_token on resource.login_codes (token_id);

create table resource.browser_sessions (
  session_id  text collate "C" primary key,
  secret_hash text collate "C" not null,
  token_id    text collate "C" not null references resource.tokens on delete cascade,
  -- what the browser said of itself, cut short: so that a person recognises the session in the list
  browser     text not null default '',
  created_at  timestamptz not null default now(),
  seen_at     timestamptz not null default now(),
  -- it ends then, whatever happens
  expires_at  timestamptz not null,
  -- it ends then unless it is used before
  idle_at     timestamptz not null,
  ended_at    timestamptz
);
create index browser_sessions_expiry on resource.browser_sessions (expires_at);
create index browser_sessions_of_token on resource.browser_sessions (token_id, created_at) where ended_at is null;

do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_reader') then
    grant select (session_id, token_id, browser, created_at, seen_at, expires_at, idle_at, ended_at)
      on resource.browser_sessions to toolplane_reader;
  end if;
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant select, insert, update, delete on resource.login_codes, resource.browser_sessions to toolplane_engine;
  end if;
end $$;
