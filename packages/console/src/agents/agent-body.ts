// Agents and profiles as the API shows them.

export interface AgentBody {
  readonly agent_id: string;
  readonly profile_box_id: string;
  readonly worker_target: string;
  readonly tags: readonly string[];
  readonly display_name: string | null;
  readonly owner_agent_id: string | null;
  readonly status: string;
  readonly created_at: string;
}

export interface ProfileBody {
  readonly profile_box_id: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly system_prompt_compiled: string | null;
}
