// How the handling of one command ended, for logs, counters and a bus that must be told whether to bring it again.

import type { ResultStatus } from "@toolplane/protocol";

/**
 * settled     the result counts (or a refusal of the command does)
 * late        the call had ended otherwise; the result was not taken
 * deferred    handed to another holder, which will settle it
 * canceled    the call was canceled or stopped while it ran
 * lost        the lease is gone; another party decides about the call
 * released    given back: not started, or safe to start again elsewhere
 * ignored     not for this service
 * swallowed   wrong, and no caller could be told
 * returned    refused, and no caller could be told; the sender has the command back
 * undelivered there is a result, and the plane could not be reached with it
 */
export type RunOutcome =
  | "settled"
  | "late"
  | "deferred"
  | "canceled"
  | "lost"
  | "released"
  | "ignored"
  | "swallowed"
  | "returned"
  | "undelivered";

export interface RunReport {
  readonly outcome: RunOutcome;
  readonly toolCallId?: string | undefined;
  readonly toolName?: string | undefined;
  /** Of the result that was sent. */
  readonly status?: ResultStatus | undefined;
  readonly code?: string | undefined;
}
