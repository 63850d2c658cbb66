// A trace as the API shows it: a tree of turns, steps and calls.

export interface TraceNode {
  readonly kind: "turn" | "step" | "call";
  readonly id: string;
  readonly name: string | null;
  readonly status: string;
  readonly error_code: string | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly children: readonly TraceNode[];
}

export interface TraceBody {
  readonly tree: readonly TraceNode[];
  readonly is_cut: boolean;
}
