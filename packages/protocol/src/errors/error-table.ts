// The one error table: documentation, HTTP mapping and retry policy at once.
// `retry` says what a caller may do with the same request:
//   never  - it will fail again; change the request first
//   later  - nothing happened or it was transient; try again with backoff
//   unsafe - something may have happened; only a tool declared `retry: safe` may run again

export type RetryAdvice = "never" | "later" | "unsafe";

export interface ErrorEntry {
  readonly http: number;
  readonly retry: RetryAdvice;
  readonly meaning: string;
}

const entry = (http: number, retry: RetryAdvice, meaning: string): ErrorEntry => ({ http, retry, meaning });

export const ERROR_TABLE = {
  // Every component may raise these.
  bad_request: entry(400, "never", "The request is malformed or breaks a rule; the message names the field."),
  protocol_violation: entry(
    400,
    "never",
    "A message breaks the tool protocol (identity, subject, header or card rule).",
  ),
  unauthorized: entry(401, "never", "No valid token was presented."),
  auth_failed: entry(403, "never", "The caller is known but may not do this, or an upstream refused the credentials."),
  invalid_source_actor: entry(
    403,
    "never",
    "The sender is not an actor of this project, or not the one the command was sent to.",
  ),
  approval_denied: entry(403, "never", "A person refused the call; it was not executed."),
  not_found: entry(404, "never", "The named thing does not exist in this project."),
  approval_expired: entry(408, "never", "The call was not approved in time; it was not executed."),
  conflict: entry(409, "never", "The thing exists with other content, or it belongs to another owner."),
  idempotency_conflict: entry(409, "never", "The idempotency key was used before with other arguments."),
  lease_lost: entry(
    409,
    "never",
    "The lease lapsed, was released, or another service holds it; stop working on the call.",
  ),
  already_settled: entry(409, "never", "The call already has another result; the first valid one counts."),
  definition_changed: entry(409, "never", "The tool's definition is not the one the call was pinned to."),
  recursion_depth_exceeded: entry(409, "never", "The chain of delegations is deeper than the limit."),
  inbox_not_empty: entry(409, "later", "The turn cannot end yet: its agent's inbox holds messages it has not seen."),
  agent_busy: entry(409, "later", "The agent is in another turn."),
  payload_too_large: entry(413, "never", "The request body is larger than the limit."),
  result_too_large: entry(413, "never", "The result is larger than the limit; return a pointer instead."),
  tool_error: entry(422, "never", "The tool ran and answered with a failure."),
  result_not_serializable: entry(
    422,
    "never",
    "The result cannot be written as JSON text (NUL, lone surrogates, cycles, too deep, an integer that a double does not keep).",
  ),
  error_not_serializable: entry(422, "never", "The error the tool gave cannot be written as JSON text."),
  invalid_status: entry(422, "never", "The result's status is not one of success, failed, canceled, timeout, partial."),
  invalid_after_execution: entry(422, "never", "after_execution is neither suspend nor terminate."),
  rate_limited: entry(429, "later", "Too many requests; wait and try again."),
  canceled: entry(499, "never", "The call was canceled before it finished."),
  internal_error: entry(500, "unsafe", "An unexpected failure; the log has the cause."),
  unknown_error: entry(500, "unsafe", "A failure was reported without a code."),
  outcome_unknown: entry(500, "never", "The tool may or may not have had its effect; it is not safe to run again."),
  storage_error: entry(
    503,
    "later",
    "The database did not answer or refused; ask again, with the same idempotency key if a call was made.",
  ),
  upstream_unavailable: entry(503, "unsafe", "Something the tool depends on did not answer."),
  breaker_open: entry(
    503,
    "later",
    "Too many runs of the tool or its target failed; its calls are refused for a while.",
  ),
  queue_timeout: entry(504, "never", "No service started the call within queue_timeout_seconds; it was not executed."),
  tool_timeout: entry(504, "unsafe", "The tool did not finish within timeout_seconds."),
  // A caller's client raises this one; a server never sends it.
  still_running: entry(504, "later", "The caller's wait ended before the call did; the call goes on: wait for its id."),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERROR_TABLE;

export const ERROR_CODES = Object.keys(ERROR_TABLE) as readonly ErrorCode[];

export const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === "string" && Object.hasOwn(ERROR_TABLE, value);

/**
 * Whether another attempt of a safe tool may help: what the tool says of its error, else the table. `later` and `unsafe` both let a safe tool
 * try again; for a code of the tool's own, the tool must say `retryable`.
 */
export const mayHelp = (code: string, retryable: unknown): boolean =>
  typeof retryable === "boolean" ? retryable : isErrorCode(code) && ERROR_TABLE[code].retry !== "never";
