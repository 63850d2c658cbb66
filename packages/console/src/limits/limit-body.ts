// The limits of a project and of its tools, as the API shows them.

export interface LimitBody {
  /** Null without a target: the limit of the project itself. */
  readonly tool_name: string | null;
  readonly target: string | null;
  readonly limits: Readonly<Record<string, unknown>>;
  readonly running: number;
  /** How many of `running` are calls that have ended while their service still runs them. */
  readonly lingering: number;
  readonly waiting: number;
  readonly held_by: string | null;
  readonly next_at: string | null;
  readonly breaker_opened_at: string | null;
}
