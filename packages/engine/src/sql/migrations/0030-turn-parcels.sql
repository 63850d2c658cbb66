-- What a transaction tells of a turn is one row of bus.messages, like what it tells of an agent's calls. For people, and for whoever
-- reads the log by SQL: the events one by one, those that have left for another bus (`sent`) too. `part` is the line in a shared row.
create view bus.events as
  select m.id, e.part, m.xid, m.project_id, e.subject, e.headers, e.payload, coalesce(e.message_id, m.message_id) as message_id,
         m.created_at, m.sent
    from (select id, xid, project_id, subject, headers, payload, events, message_id, created_at, false as sent
            from bus.messages where category = 'evt'
          union all
          select id, xid, project_id, subject, headers, payload, events, null::text, created_at, true from bus.sent_events) m
   cross join lateral (
     select 0 as part, m.subject, m.headers, m.payload, null::text as message_id where m.events = 0
     union all
     select l.part::int,
            case when split_part(l.line, chr(9), 4) = '' then m.subject
                 else left(m.subject, -length('turn')) || split_part(l.line, chr(9), 4) end,
            (m.headers::jsonb || jsonb_strip_nulls(jsonb_build_object(
              'CG-Turn-Epoch', split_part(l.line, chr(9), 1),
              'traceparent', nullif(split_part(l.line, chr(9), 2), ''),
              'CG-Turn-Id', nullif(split_part(l.line, chr(9), 3)::json ->> 'agent_turn_id', ''),
              'CG-Msg-Type', nullif(split_part(l.line, chr(9), 5), ''))))::text,
            split_part(l.line, chr(9), 3), nullif(split_part(l.line, chr(9), 6), '')
       from string_to_table(case when m.events > 0 then m.payload end, chr(10)) with ordinality l (line, part)) e;

do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_reader') then
    grant select on bus.events to toolplane_reader;
  end if;
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant select on bus.events to toolplane_engine;
  end if;
end $$;

-- Rows that are updated soon after they were written: with room in the page the new version needs no entries in the indexes, and
-- the log has only what changed.
alter table state.heads set (fillfactor = 50);
alter table state.turns set (fillfactor = 50);
alter table state.steps set (fillfactor = 50);
alter table cards.boxes set (fillfactor = 70);
