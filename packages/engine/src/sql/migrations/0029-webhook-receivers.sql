-- The host and port that a delivery goes to. Deliveries are claimed by project and receiver, so that a receiver that is slow, or a
-- project with many deliveries, holds up no other project.
alter table state.webhook_deliveries add column receiver text collate "C" not null default '';
update state.webhook_deliveries d
   set receiver = split_part(w.url, '/', 3)
  from resource.webhooks w
 where w.project_id = d.project_id and w.webhook_id = d.webhook_id and d.status = 'pending';
create index webhook_deliveries_lines on state.webhook_deliveries (project_id, receiver, available_at, seq) where status = 'pending';
