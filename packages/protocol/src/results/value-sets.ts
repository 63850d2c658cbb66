// The closed word lists of a result: how a call ended, and what its end does to the turn.

export const RESULT_STATUSES = ["success", "failed", "canceled", "timeout", "partial"] as const;
export type ResultStatus = (typeof RESULT_STATUSES)[number];

export const AFTER_EXECUTIONS = ["suspend", "terminate"] as const;
export type AfterExecution = (typeof AFTER_EXECUTIONS)[number];

/** A command without this field lets the turn go on. */
export const DEFAULT_AFTER_EXECUTION: AfterExecution = "suspend";

export const isResultStatus = (value: unknown): value is ResultStatus =>
  value === "success" || value === "failed" || value === "canceled" || value === "timeout" || value === "partial";

export const isAfterExecution = (value: unknown): value is AfterExecution =>
  value === "suspend" || value === "terminate";

/** For readers that cannot stop: an unknown status counts as a failure. */
export const coerceStatus = (value: unknown): ResultStatus => (isResultStatus(value) ? value : "failed");
