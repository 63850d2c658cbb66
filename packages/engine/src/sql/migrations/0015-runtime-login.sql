-- A plane may log in as a member of toolplane_engine that owns nothing: it has to see whether migrations are pending, which
-- another login applies.
do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant select on public.toolplane_migrations to toolplane_engine;
  end if;
end $$;
