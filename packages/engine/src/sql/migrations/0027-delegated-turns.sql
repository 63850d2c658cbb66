-- Open turns that agents gave to others: counted at each delegation, because their number is bounded for each project.
create index turns_delegated on state.turns ((project_id || '')) where ended_at is null and parent_agent_turn_id is not null;
