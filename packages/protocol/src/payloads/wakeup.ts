// The doorbell: says that an agent has work, never what the work is. A lost one costs time only (I13), and a consumer that
// cannot read one looks for work anyway.

import { z } from "zod";
import { jsonObject } from "../json/json-schemas.ts";

export const WAKEUP_REASONS = [
  "dispatch_next",
  "agent_idle",
  "deferred_wakeup",
  "watchdog_due_deferred",
  "watchdog_pending_inbox",
  "watchdog_retransmit",
  "watchdog_forced_idle",
  "batch_reconcile_ack_pending_window_exceeded",
] as const;

export type WakeupReason = (typeof WAKEUP_REASONS)[number];

export const wakeupSchema = z.object({
  inbox_id: z.string().optional(),
  /** Any word is allowed; our own parts use the list above. */
  reason: z.string().optional(),
  metadata: jsonObject.optional(),
});
export type WakeupPayload = z.infer<typeof wakeupSchema>;
