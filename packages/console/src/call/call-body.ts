// A call as the API shows it, whole.

import type { ListedCall } from "../calls/call-rows.ts";

export interface LeaseBody {
  readonly attempt: number;
  readonly holder: string | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly ended: string | null;
}

/** Further ways to show a result, made by the tool. */
export interface ViewsBody {
  readonly model?: unknown;
  readonly display?: unknown;
  readonly preview?: string;
}

export interface CallBody extends ListedCall {
  readonly tool_call_card_id: string;
  readonly tool_result_card_id?: string;
  readonly trace_id: string;
  readonly target: string;
  readonly tool_version: number;
  readonly retry_safe: boolean;
  readonly leases?: readonly LeaseBody[];
  readonly approval?: {
    readonly verdict: string;
    readonly by: string;
    readonly reason: string | null;
    readonly decided_at: string;
  };
  readonly run_deadline: string | null;
  readonly queue_deadline: string | null;
  readonly settled_by: string | null;
  readonly idempotency_key: string | null;
  readonly retry_of: string | null;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly argument_layers?: {
    readonly defaults: readonly string[];
    readonly fixed: readonly string[];
    readonly envs: Readonly<Record<string, string>>;
    readonly hidden: readonly string[];
  };
  readonly result?: unknown;
  readonly error?: unknown;
  readonly views?: ViewsBody;
  readonly diagnostics?: unknown;
}

export interface WhyBody {
  readonly why: string;
  readonly todo: string | null;
}
