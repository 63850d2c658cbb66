// Tool hosts and tool services as the API shows them.

export interface HostBody {
  readonly name: string;
  readonly state: string;
  readonly problem: { readonly code: string; readonly message: string } | null;
  readonly todo: string | null;
  readonly program: string | null;
  readonly tools: readonly string[];
  readonly refused: readonly Readonly<Record<string, unknown>>[];
  readonly processes: readonly {
    readonly pid: number | null;
    readonly state: string;
    readonly in_flight: number;
  }[];
  readonly queued: number;
  readonly starts: number;
  readonly crashes: number;
  readonly breaker: { readonly state: string; readonly retry_in_ms: number } | null;
  readonly last_stderr: readonly string[];
}

export interface ServiceBody {
  readonly target: string;
  readonly holder: string;
  readonly last_seen_at: string;
}
