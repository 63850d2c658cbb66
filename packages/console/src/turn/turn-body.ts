// Turns as the API shows them.

export interface TurnRow {
  readonly agent_turn_id: string;
  readonly agent_id: string;
  readonly source_agent_id: string;
  readonly status: string;
  readonly step_count: number;
  readonly recursion_depth: number;
  readonly trace_id: string;
  readonly parent_agent_turn_id: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly created_at: string | null;
  readonly ended_at: string | null;
}

export interface StepCall {
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly arguments: unknown;
  readonly local?: true;
  readonly status: string | null;
  readonly result?: unknown;
  readonly error?: unknown;
  readonly asked_at: string;
  readonly answered_at: string | null;
}

export interface StepBody {
  readonly step_id: string;
  readonly status: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly error: unknown;
  readonly thought?: string | null;
  readonly calls?: readonly StepCall[];
}

export interface TurnBody extends TurnRow {
  readonly instruction?: string | null;
  readonly deliverable: unknown;
  readonly why?: string | null;
  readonly todo?: string | null;
  readonly steps: readonly StepBody[];
}

const OVER: ReadonlySet<string> = new Set(["success", "failed", "canceled", "timeout", "partial"]);
export const isTurnOver = (status: string): boolean => OVER.has(status);
