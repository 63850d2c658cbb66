// Rows of calls as dispatch would leave them, for tests of what only reads or parks them.

import type { RegistryWorld } from "./registry-world.ts";

export interface SampleCall {
  readonly projectId: string;
  readonly toolCallId: string;
  readonly toolName?: string;
  readonly status?: "queued" | "running" | "success";
  readonly stepId?: string;
  readonly callCardId?: string;
  readonly resultCardId?: string;
  /** Seconds from now at which the caller wants it to start. */
  readonly startsIn?: number;
}

const QUEUE_SECONDS = 600;

const LIVE = ["state.live_calls", "due_at", "now() + make_interval(secs => $8 + $7::float8)"] as const;
const PAST = [
  "state.past_calls",
  "settled_at, settled_by, result_card_id, created_at, attempts, publishes",
  "now(), 'tool.text', $9, now(), 1, 0",
] as const;

const insert = ([table, columns, values]: typeof LIVE | typeof PAST): string => `
insert into ${table} (
  project_id, tool_call_id, status, agent_id, agent_turn_id, turn_epoch, step_id, headless, channel_id, tool_name,
  tool_version, definition_hash, subject, target, actor_id, after_execution, call_card_id, call_card_hash, headers,
  lineage, recursion_depth, trace_id, retry_safe, plain, timeout_seconds, queue_timeout_seconds, arguments_hash,
  available_at, queue_deadline, ${columns})
values ($1, $2, $3, 'agent_a', 'turn_1', 1, $4, true, 'public', $5, 1, 'hash', 'cg.v1r4.p.public.cmd.tool.text', 'text',
  'tool.text', 'suspend', $6, 'hash', '{}', '{}', 0, 'trace', true, false, 30, $7::float8, 'hash',
  now() + make_interval(secs => $8), now() + make_interval(secs => $8 + $7::float8), ${values})`;

export const insertSampleCall = async (world: RegistryWorld, call: SampleCall): Promise<void> => {
  const status = call.status ?? "queued";
  const settled = status === "success";
  await world.ask(insert(settled ? PAST : LIVE), [
    call.projectId,
    call.toolCallId,
    status,
    call.stepId ?? "step_1",
    call.toolName ?? "count_words",
    call.callCardId ?? `card-of-${call.toolCallId}`,
    QUEUE_SECONDS,
    call.startsIn ?? 0,
    ...(settled ? [call.resultCardId ?? null] : []),
  ]);
};
