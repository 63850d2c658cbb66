-- A service on NATS that waits for calls at the gateway has a durable like every other and fetches nothing from it. `fetched_at`: when a
-- service that does fetch was last heard of. An earlier version does not name the column: its services fetch.
alter table bus.attached_targets add column fetched_at timestamptz default now();
update bus.attached_targets set fetched_at = attached_at;
