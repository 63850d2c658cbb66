// What happens to a call that is due. Pure: the database says which deadlines have passed.
//
// | state             | passed          | tool       | what happens                                                       |
// |-------------------|-----------------|------------|--------------------------------------------------------------------|
// | any               | -               | -          | a valid result card was written but not reported: it is the result |
// | awaiting_approval | queue deadline  | -          | failed, approval_expired                                           |
// | queued            | queue deadline  | -          | timeout, queue_timeout; a dead letter                              |
// | queued (plain)    | run deadline    | -          | timeout, tool_timeout: it may have run                             |
// | queued, paused    | -               | active     | back into the queue (a resume that raced with its dispatch)        |
// | queued, paused    | -               | paused     | look again later                                                   |
// | queued            | unleased long   | -          | the command is published again, less and less often                |
// | queued, for later | -               | -          | its time has come: into the lane of its agent                      |
// | queued (plain)    | -               | -          | its command is published once, never again                         |
// | running           | run deadline    | -          | timeout, tool_timeout                                              |
// | running           | run deadline    | policy     | tried again by its retry policy, when its service has spoken or lost its lease |
// | running           | lease           | retry safe | offered again with backoff; after the last loss a dead letter      |
// | running           | lease           | not safe   | failed, outcome_unknown; a dead letter: a person must look         |
//
// A lease that passed before the run deadline counts, also when both have passed: nobody looked in between, and the service had
// fallen silent while it had time.
// Calls that were started before this process looked are not ended at once when it comes back, so that services can say first what
// became of them.

import { type Backoff, backoff, type ResultStatus, ToolplaneError } from "@toolplane/protocol";

export interface DueCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly target: string;
  readonly status: "queued" | "running" | "awaiting_approval";
  readonly retrySafe: boolean;
  /** Its service never leases, so a second command could cause a second run. */
  readonly plain: boolean;
  readonly timeoutSeconds: number;
  readonly attempts: number;
  readonly publishes: number;
  readonly leaseHolder: string | null;
  readonly queueOver: boolean;
  readonly runOver: boolean;
  readonly leaseOver: boolean;
  /** The lease ends, or ended, before the run deadline. */
  readonly lapsesFirst: boolean;
  /** How often its lease lapsed before. */
  readonly lapses: number;
  /** Seconds since the call was started; for a service that never leases, since the call was made. */
  readonly ageSeconds: number;
  /** Its end was put off once already, to let its service speak. */
  readonly putOff: boolean;
  /** The tool was paused when the call was offered, so the call waits outside the queue. */
  readonly outOfQueue: boolean;
  readonly toolActive: boolean;
  /** The retry policy of the tool gives a call that is out of time another attempt. */
  readonly mayTryAgain: boolean;
}

export interface ExpiryPolicy {
  /** How often a call of a safe tool may lose its holder before the plane gives it up. */
  readonly maxAttempts: number;
  /** After this process was away: how long services have to say what became of their calls. */
  readonly graceSeconds: number;
  /** Seconds until an unleased command is published again; null on the postgres bus. */
  readonly republishSeconds: number | null;
}

export type Expiry =
  | { readonly act: "settle"; readonly status: ResultStatus; readonly error: ToolplaneError; readonly bury: boolean }
  | {
      readonly act: "requeue";
      readonly delaySeconds: number;
      readonly recheckSeconds: number | null;
      readonly publish: boolean;
    }
  | { readonly act: "retry" }
  | { readonly act: "postpone"; readonly seconds: number };

/**
 * How often the watchdog looks again at calls of a paused tool, and at calls that wait for approval. A resume wakes the calls of its tool; this
 * look finds a call that was written while the resume ran. The time is longer than any transaction of the plane, and so rare that ten thousand
 * waiting calls cost little.
 */
const RECHECK_SECONDS = 60;
/** Pauses before a call of a safe tool is offered again after its holder died: 1, 2, 4, ... seconds. */
const RETRY_SECONDS: Backoff = { first: 1, longest: 30 };
/** A command is published again at these multiples of the policy's time. */
const REPUBLISH_TIMES: Backoff = { first: 1, longest: 64 };

const settle = (status: ResultStatus, error: ToolplaneError, bury: boolean): Expiry => ({
  act: "settle",
  status,
  error,
  bury,
});

/** The detail names the service that had the call: its log can say whether the tool was slow or its process ended. */
const timedOut = ({ toolName, timeoutSeconds, attempts, leaseHolder: holder }: DueCall): Expiry => {
  const detail = { timeout_seconds: timeoutSeconds, attempts, ...(holder === null ? {} : { holder }) };
  const message = `${toolName} did not finish within ${timeoutSeconds} s`;
  return settle("timeout", new ToolplaneError("tool_timeout", message, { detail }), false);
};

const republishAfter = (call: DueCall, policy: ExpiryPolicy): number | null =>
  policy.republishSeconds === null ? null : policy.republishSeconds * backoff(REPUBLISH_TIMES, call.publishes + 1);

const expireQueued = (call: DueCall, policy: ExpiryPolicy): Expiry => {
  if (call.runOver) return timedOut(call);
  if (call.queueOver) {
    const message = `no service started ${call.toolName} in time; check that a service for target ${call.target} runs`;
    return settle("timeout", new ToolplaneError("queue_timeout", message, { detail: { target: call.target } }), true);
  }
  const recheckSeconds = republishAfter(call, policy);
  if (call.outOfQueue && !call.toolActive) return { act: "postpone", seconds: RECHECK_SECONDS };
  if (call.plain)
    return {
      act: "requeue",
      delaySeconds: 0,
      recheckSeconds: null,
      publish: recheckSeconds !== null && call.publishes === 0,
    };
  return { act: "requeue", delaySeconds: 0, recheckSeconds, publish: recheckSeconds !== null };
};

const expireRunning = (call: DueCall, policy: ExpiryPolicy): Expiry => {
  if (call.runOver && !call.lapsesFirst) {
    if (!call.mayTryAgain) return timedOut(call);
    // Its service may be about to report the same, and its tool may not have stopped. A service that only beats is not waited for.
    const isWaitedFor = !call.leaseOver && call.ageSeconds < call.timeoutSeconds + policy.graceSeconds;
    return isWaitedFor ? { act: "postpone", seconds: 1 } : { act: "retry" };
  }
  if (!call.leaseOver) return { act: "postpone", seconds: 1 };
  // Not in the message: a model reads it as the plane's own words, and the name is the service's choice.
  const holder = call.leaseHolder ?? "unknown";
  if (!call.retrySafe) {
    const message = `its service stopped answering while it ran ${call.toolName}; the tool may or may not have had its effect`;
    return settle(
      "failed",
      new ToolplaneError("outcome_unknown", message, { detail: { holder, attempts: call.attempts } }),
      true,
    );
  }
  const losses = call.lapses + 1;
  if (losses >= policy.maxAttempts) {
    const message = `${call.toolName} lost its service ${losses} times`;
    return settle(
      "failed",
      new ToolplaneError("upstream_unavailable", message, { detail: { holder, attempts: call.attempts } }),
      true,
    );
  }
  const recheckSeconds = republishAfter(call, policy);
  return {
    act: "requeue",
    delaySeconds: backoff(RETRY_SECONDS, losses),
    recheckSeconds,
    publish: recheckSeconds !== null,
  };
};

/** The call was started before this process looked, and its service may not have been able to speak since. */
const isUnheard = (call: DueCall, watchedSeconds: number): boolean =>
  (call.leaseOver || call.runOver) && !call.putOff && call.ageSeconds > watchedSeconds;

/** `watchedSeconds`: how long this process has looked without a pause. */
export const planExpiry = (call: DueCall, policy: ExpiryPolicy, watchedSeconds: number): Expiry => {
  const graceSeconds = policy.graceSeconds - watchedSeconds;
  if (graceSeconds > 0 && isUnheard(call, watchedSeconds)) return { act: "postpone", seconds: graceSeconds };
  switch (call.status) {
    case "running":
      return expireRunning(call, policy);
    case "queued":
      return expireQueued(call, policy);
    case "awaiting_approval":
      return call.queueOver
        ? settle("failed", new ToolplaneError("approval_expired", `${call.toolName} was not approved in time`), false)
        : { act: "postpone", seconds: RECHECK_SECONDS };
  }
};
