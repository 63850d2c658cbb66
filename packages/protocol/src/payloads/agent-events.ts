// Facts about agents and their turns that observers may read. Unknown keys are ignored, because observers outlive versions.

import { z } from "zod";
import { jsonObject, texts } from "../json/json-schemas.ts";
import { RESULT_STATUSES } from "../results/value-sets.ts";
import { parseLenient } from "./lenient-object.ts";

const id = z.string().min(1);

/** Exactly one per turn (I10). */
const taskEventSchema = z.object({
  agent_turn_id: id,
  status: z.enum(RESULT_STATUSES),
  output_box_id: z.string().optional(),
  deliverable_card_id: z.string().optional(),
  tool_result_card_id: z.string().optional(),
  output_box: z.object({ card_ids: texts }).optional(),
  error: z.string().optional(),
  error_code: z.string().optional(),
  stats: jsonObject.optional(),
  /** The head of the turn's hash chain, for later verification. */
  chain_head: z.string().optional(),
});
export type TaskEvent = z.infer<typeof taskEventSchema>;

export const STEP_PHASES = ["started", "planning", "executing", "completed", "failed"] as const;
export type StepPhase = (typeof STEP_PHASES)[number];

export const stepEventSchema = z.object({
  agent_turn_id: id,
  step_id: id,
  phase: z.enum(STEP_PHASES),
  metadata: jsonObject.optional(),
  new_card_ids: texts.optional(),
});
export type StepEvent = z.infer<typeof stepEventSchema>;

const AGENT_STATUSES = ["idle", "dispatched", "running", "suspended"] as const;

export const stateEventSchema = z.object({
  agent_id: id,
  agent_turn_id: z.string(),
  status: z.enum(AGENT_STATUSES),
  turn_epoch: z.number().int().nonnegative(),
  /** UTC, written with Z. */
  updated_at: z.iso.datetime(),
  output_box_id: z.string().optional(),
  metadata: jsonObject.optional(),
});
export type StateEvent = z.infer<typeof stateEventSchema>;

/** What can happen to a call. `settled`, `canceled` or `dead` is the last, once. */
export type CallPhase =
  | "dispatched"
  | "leased"
  | "settled"
  | "canceled"
  | "retried"
  | "approval_wanted"
  | "approval_decided"
  | "dead";

export const markerSchema = z.object({
  marker_type: id,
  tool_call_card_id: id,
  source_agent_id: id,
  trace_id: z.string(),
  ts: z.union([z.iso.datetime({ offset: true }), z.number().nonnegative()]),
});
export type MarkerEvent = z.infer<typeof markerSchema>;

export const parseTaskEvent = (input: unknown): TaskEvent => parseLenient(taskEventSchema, input, "task event");
