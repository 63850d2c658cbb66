-- Rows that change a few times and then stay for good. By default a table is vacuumed when a fifth of it is dead: the longer
-- the past, the more dead versions lie beside the calls of now, and every search steps over them (docs/records/engine-flatness.md).
alter table state.calls set (autovacuum_vacuum_scale_factor = 0.02);
alter table state.inbox set (autovacuum_vacuum_scale_factor = 0.02);
alter table state.turns set (autovacuum_vacuum_scale_factor = 0.02);
alter table state.steps set (autovacuum_vacuum_scale_factor = 0.02);
