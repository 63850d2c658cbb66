// Timing fields, for people who look for where the time went. Nothing is added unless it is switched on; each kind has a
// switch of its own that follows the main one.
//   Times of the inbox come from the database, times of the step from this process; only times of one clock are subtracted.

import type { Clock, Work } from "@toolplane/engine";
import type { JsonObject, JsonValue } from "@toolplane/protocol";

export interface TimingSwitches {
  readonly enabled?: boolean | undefined;
  readonly stepEvent?: boolean | undefined;
  readonly taskEvent?: boolean | undefined;
  readonly streamMetadata?: boolean | undefined;
  readonly workerLogs?: boolean | undefined;
}

export type TimingPlan = Required<{ readonly [Key in keyof TimingSwitches]: boolean }>;

export const resolveTiming = ({ enabled = false, ...own }: TimingSwitches = {}): TimingPlan => ({
  enabled,
  stepEvent: own.stepEvent ?? enabled,
  taskEvent: own.taskEvent ?? enabled,
  streamMetadata: own.streamMetadata ?? enabled,
  workerLogs: own.workerLogs ?? enabled,
});

export interface StepTiming {
  asked(): void;
  heard(): void;
  answered(): void;
  failed(): void;
  fields(): JsonObject;
}

const iso = (ms: number): string => new Date(ms).toISOString();

const intakeFields = (work: Work, receivedAt: number): Record<string, JsonValue> => ({
  queue_enqueued_at: iso(work.inboxCreatedAtMs),
  worker_dequeued_at: iso(work.claimedAtMs),
  queue_wait_ms: work.claimedAtMs - work.inboxCreatedAtMs,
  inbox_created_at: iso(work.inboxCreatedAtMs),
  inbox_processed_at: iso(work.claimedAtMs),
  inbox_age_ms: work.claimedAtMs - work.inboxCreatedAtMs,
  inbox_claim_lag_ms: work.claimedAtMs - work.inboxCreatedAtMs,
  worker_received_at: iso(receivedAt),
});

/** `receivedAt`: when this process got the work in hand, on its own clock. */
export const startStepTiming = (
  clock: Pick<Clock, "now">,
  work: Work,
  stepId: string,
  receivedAt: number,
): StepTiming => {
  const startedAt = clock.now();
  const llm: Record<string, JsonValue> = {};
  let askedAt: number | undefined;
  const since = (now: number): number => now - (askedAt ?? now);
  return {
    asked() {
      askedAt = clock.now();
      llm.request_started_at = iso(askedAt);
    },
    heard() {
      if (llm.first_token_at !== undefined) return;
      const now = clock.now();
      llm.first_token_at = iso(now);
      llm.first_token_ms = since(now);
    },
    answered() {
      const now = clock.now();
      llm.response_received_at = iso(now);
      llm.duration_ms = since(now);
    },
    failed() {
      const now = clock.now();
      llm.error_at = iso(now);
      llm.duration_ms = since(now);
    },
    fields: () => ({
      ...intakeFields(work, receivedAt),
      post_claim_queue_lag_ms: startedAt - receivedAt,
      step_id: stepId,
      step_started_at: iso(startedAt),
      llm: { ...llm },
    }),
  };
};
