// Tools as the API shows them.

export interface Change {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

export interface Pending {
  readonly version: number;
  readonly source: string | null;
  readonly created_at: string;
  readonly weakens: readonly string[] | boolean | null;
  readonly changes: readonly Change[];
}

export interface ToolBody {
  readonly tool_name: string;
  readonly description: string;
  readonly target_subject: string;
  readonly after_execution: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly version: number;
  readonly definition_hash: string;
  readonly status: string;
  readonly source: string | null;
  readonly updated_at: string;
  readonly pending?: Pending;
}

/** Over all calls of the tool that are kept. */
export interface UsageBody {
  readonly ended: number;
  readonly failed: number;
  readonly open: number;
  readonly is_cut: boolean;
  readonly since: string | null;
  readonly median_ms: number | null;
  readonly p95_ms: number | null;
  readonly errors: readonly { readonly code: string; readonly calls: number }[];
}

export interface VersionBody {
  readonly version: number;
  readonly definition: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly state: string;
}

/** `cg.v1r4.{project}.{channel}.cmd.tool.{target}.{suffix}` */
export const targetOf = ({ target_subject: subject }: Pick<ToolBody, "target_subject">): string =>
  subject.split(".")[6] ?? subject;
