-- A correlation and an alias name a request of one asker for one agent (I12). They named one request of the whole project, so an
-- agent could take a name that another asker was going to use.
drop index state.turns_correlation;
-- One expression for the scope: an index with the project in a column of its own would look useful to statements that name no
-- correlation.
create unique index turns_correlation on state.turns (correlation_id, (project_id || ' ' || source_agent_id || ' ' || agent_id));
drop index state.turns_alias;
create unique index turns_alias on state.turns (alias_id, (project_id || ' ' || source_agent_id || ' ' || agent_id)) where alias_id is not null;
-- Several turns may have one correlation, each with its own edge.
alter table state.edges
  drop constraint edges_project_id_correlation_id_primitive_edge_phase_key,
  add constraint edges_of_correlation unique nulls not distinct (project_id, correlation_id, primitive, edge_phase, target_turn_id);
