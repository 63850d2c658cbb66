-- Agents that were made for one task are forgotten after it. made_for names the identity edge that made such an agent;
-- null: somebody wants it to stay. What a person provisions never has it, and provisioning an agent by its id clears it.
alter table resource.agents add column made_for text collate "C";

-- Youngest first: those an agent made are younger than itself, and go before it.
create index agents_made_for_tasks on resource.agents (project_id, created_at, agent_id) where made_for is not null;
create index agents_of_owner on resource.agents (owner_agent_id, project_id) where owner_agent_id is not null;
-- A token that names an agent keeps it.
create index tokens_of_actor on resource.tokens (actor_id, project_id) where actor_id is not null and revoked_at is null;

-- Turns that write where an earlier turn left its output: the box is theirs when that one is forgotten.
create index turns_sharing_output on state.turns (output_box_id, project_id, agent_turn_id) where not output_owned;
