import type { Work } from "@toolplane/engine";
import { expect, test } from "vitest";
import { resolveTiming, startStepTiming, type TimingSwitches } from "./timing.ts";

test.each<[string, TimingSwitches, object]>([
  ["nothing by default", {}, { enabled: false, stepEvent: false, taskEvent: false, streamMetadata: false }],
  ["everything with the main one", { enabled: true }, { stepEvent: true, taskEvent: true, workerLogs: true }],
  ["one alone", { taskEvent: true }, { enabled: false, stepEvent: false, taskEvent: true }],
  ["all but one", { enabled: true, stepEvent: false }, { stepEvent: false, taskEvent: true }],
])("[UTP-10.8-1] switches: %s", (_what, switches, expected) => {
  expect(resolveTiming(switches)).toMatchObject(expected);
});

test("[UTP-10.8-2] the fields of a step, each difference within one clock", () => {
  let now = 1_000;
  const work = { inboxCreatedAtMs: 50, claimedAtMs: 80 } as Work;
  const timing = startStepTiming({ now: () => now }, work, "step_1", 900);
  now = 1_100;
  timing.asked();
  now = 1_130;
  timing.heard();
  timing.heard();
  now = 1_200;
  timing.answered();
  expect(timing.fields()).toEqual({
    queue_enqueued_at: "1970-01-01T00:00:00.050Z",
    worker_dequeued_at: "1970-01-01T00:00:00.080Z",
    queue_wait_ms: 30,
    inbox_created_at: "1970-01-01T00:00:00.050Z",
    inbox_processed_at: "1970-01-01T00:00:00.080Z",
    inbox_age_ms: 30,
    inbox_claim_lag_ms: 30,
    worker_received_at: "1970-01-01T00:00:00.900Z",
    post_claim_queue_lag_ms: 100,
    step_id: "step_1",
    step_started_at: "1970-01-01T00:00:01.000Z",
    llm: {
      request_started_at: "1970-01-01T00:00:01.100Z",
      first_token_at: "1970-01-01T00:00:01.130Z",
      first_token_ms: 30,
      response_received_at: "1970-01-01T00:00:01.200Z",
      duration_ms: 100,
    },
  });
});

test("[UTP-10.8-2] a question that failed says when", () => {
  const timing = startStepTiming({ now: () => 5 }, { inboxCreatedAtMs: 0, claimedAtMs: 0 } as Work, "s", 0);
  timing.asked();
  timing.failed();
  expect(timing.fields().llm).toEqual({
    request_started_at: "1970-01-01T00:00:00.005Z",
    error_at: "1970-01-01T00:00:00.005Z",
    duration_ms: 0,
  });
});
