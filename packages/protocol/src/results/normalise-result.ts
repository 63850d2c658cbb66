// Turns what a tool gave into what a tool.result card may hold. Seven steps in a fixed order. It never throws, so a call can
// always settle (I1), and the outcome is always a valid ToolResultContent that fits into a card.

import type { ToolResultContent } from "../cards/content.ts";
import type { ErrorCode } from "../errors/error-table.ts";
import { isToolplaneError } from "../errors/toolplane-error.ts";
import { copyJson } from "../json/json-copy.ts";
import { shortText } from "../json/json-path.ts";
import {
  isFilled,
  isRecord,
  type JsonCaps,
  type JsonObject,
  type JsonValue,
  MAX_JSON_BYTES,
  MAX_JSON_DEPTH,
} from "../json/json-value.ts";
import { storableText } from "../json/storable-text.ts";
import { writeOverride } from "./control.ts";
import {
  type ErrorEnvelope,
  type ErrorSource,
  errorResult,
  normaliseError,
  UNKNOWN_ERROR,
  withAdvice,
} from "./error-envelope.ts";
import {
  type AfterExecution,
  DEFAULT_AFTER_EXECUTION,
  isAfterExecution,
  isResultStatus,
  type ResultStatus,
} from "./value-sets.ts";

export interface ResultInput {
  readonly status: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
  /** The command's; the card and the callback always repeat it. */
  readonly commandAfterExecution?: unknown;
  /** An explicit wish to end or continue the turn; written into the result's control namespace. */
  readonly afterExecution?: unknown;
  /** Show the error in the result too, when no result was given. */
  readonly mirrorError?: boolean;
  /** Recorded on errors that name no source. */
  readonly source?: ErrorSource;
  readonly caps?: JsonCaps;
}

/** The card around a result takes two levels, a wrapper for the override two more. */
const ENVELOPE_DEPTH = 4;
/** An error is also shown inside the result, one level further down. */
const MIRROR_DEPTH = 2;
/** Room for the card's own fields and the error. */
const ENVELOPE_BYTES = 128 * 1024;
/** Room for codes and words; a foreign answer's body belongs into a result, cut to size. */
const MAX_ERROR_BYTES = 32 * 1024;
/** Enough of a message for a person or a model; some programs put their whole output into one. */
const MAX_MESSAGE_CHARS = 4000;
const MAX_WISH_CHARS = 200;

interface Draft {
  status: ResultStatus;
  result: JsonValue;
  error: JsonObject | null;
}

const capsFor = (caps: JsonCaps | undefined): Required<JsonCaps> => ({
  maxDepth: Math.max(1, (caps?.maxDepth ?? MAX_JSON_DEPTH) - ENVELOPE_DEPTH),
  maxBytes: Math.max(1, (caps?.maxBytes ?? MAX_JSON_BYTES) - ENVELOPE_BYTES),
});

const fail = (draft: Draft, code: ErrorCode, message: string, detail: JsonObject, source?: ErrorSource): void => {
  const earlier =
    draft.error === null ? {} : { earlier_error: { code: draft.error.code, message: draft.error.message } };
  const envelope = withAdvice({
    code,
    message,
    ...(source === undefined ? {} : { source }),
    detail: { ...detail, ...earlier },
  });
  draft.status = "failed";
  draft.error = envelope as unknown as JsonObject;
};

const describeFault = (error: unknown): string => (isToolplaneError(error) ? error.message : "it could not be read");

const typeName = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return typeof value;
  try {
    return Object.prototype.toString.call(value).slice("[object ".length, -1);
  } catch {
    // A proxy that was revoked, a tag that throws.
    return "object";
  }
};

/** Steps 1 to 3: a status, and an error exactly when the status is not success. */
const settleStatus = (input: ResultInput): { status: ResultStatus; error: ErrorEnvelope | undefined } => {
  const options = input.source === undefined ? {} : { source: input.source };
  const given = input.error === undefined || input.error === null ? undefined : normaliseError(input.error, options);
  if (!isResultStatus(input.status)) {
    const invalid = { code: "invalid_status", message: "the status of the result is not one of the five known words" };
    return { status: "failed", error: given ?? normaliseError(invalid, options) };
  }
  if (given !== undefined) return { status: input.status === "success" ? "failed" : input.status, error: given };
  if (input.status === "success") return { status: "success", error: undefined };
  return { status: input.status, error: normaliseError(errorInResult(input.result) ?? UNKNOWN_ERROR, options) };
};

const errorInResult = (result: unknown): Record<string, unknown> | undefined => {
  try {
    if (!isRecord(result)) return undefined;
    const { error_code, error_message, error_detail } = result;
    const isNamed = isFilled(error_code) || typeof error_code === "number" || isFilled(error_message);
    return isNamed ? { error_code, error_message, error_detail } : undefined;
  } catch {
    // A getter that throws makes the result unreadable; step 5 says so.
    return undefined;
  }
};

const isTooLarge = (fault: unknown): boolean => isToolplaneError(fault) && fault.code === "result_too_large";

/** The error as JSON. When it is too large, the code and the beginning of the message are kept: they say what to do. */
const copyError = (error: ErrorEnvelope, maxDepth: number): JsonObject => {
  const caps = { maxDepth, maxBytes: MAX_ERROR_BYTES };
  const { code, source } = error;
  const message = shortText(error.message, MAX_MESSAGE_CHARS);
  try {
    return copyJson(withAdvice({ ...error, message }), caps) as JsonObject;
  } catch (fault) {
    if (!isTooLarge(fault)) throw fault;
    const cut = { code, message, ...(source === undefined ? {} : { source }), detail: { left_out: "too large" } };
    return copyJson(withAdvice(cut), caps) as JsonObject;
  }
};

/** Step 4. */
const keepError = (draft: Draft, error: ErrorEnvelope | undefined, input: ResultInput): void => {
  if (error === undefined) return;
  try {
    draft.error = copyError(error, Math.max(1, capsFor(input.caps).maxDepth - MIRROR_DEPTH));
  } catch (fault) {
    fail(
      draft,
      "error_not_serializable",
      "the error cannot be written as JSON",
      { original_error: describeFault(fault) },
      input.source,
    );
  }
};

/** Step 5. */
const keepResult = (draft: Draft, input: ResultInput): void => {
  try {
    draft.result = input.result === undefined ? null : copyJson(input.result, capsFor(input.caps));
  } catch (fault) {
    const code = isTooLarge(fault) ? "result_too_large" : "result_not_serializable";
    const why = describeFault(fault);
    const message = code === "result_too_large" ? why : `the result cannot be written as JSON: ${why}`;
    fail(draft, code, message, { type: typeName(input.result), original_error: describeFault(fault) }, input.source);
  }
};

const showWish = (wish: unknown): string =>
  typeof wish === "string" ? storableText(wish, MAX_WISH_CHARS) : typeof wish;

/** Step 6. */
const keepWish = (draft: Draft, wish: unknown, source?: ErrorSource): void => {
  if (wish === undefined || wish === null || isAfterExecution(wish)) return;
  fail(
    draft,
    "invalid_after_execution",
    "after_execution is neither suspend nor terminate",
    { after_execution: showWish(wish) },
    source,
  );
};

export const normaliseResult = (input: ResultInput): ToolResultContent => {
  const { status, error } = settleStatus(input);
  const draft: Draft = { status, result: null, error: null };
  keepError(draft, error, input);
  keepResult(draft, input);
  const command: AfterExecution = isAfterExecution(input.commandAfterExecution)
    ? input.commandAfterExecution
    : DEFAULT_AFTER_EXECUTION;
  keepWish(draft, input.commandAfterExecution, input.source);
  keepWish(draft, input.afterExecution, input.source);
  if (input.mirrorError === true && input.result === undefined && draft.error !== null) {
    draft.result = errorResult(draft.error as unknown as ErrorEnvelope);
  }
  return Object.freeze({
    __type__: "ToolResultContent",
    status: draft.status,
    after_execution: command,
    result: isAfterExecution(input.afterExecution) ? writeOverride(draft.result, input.afterExecution) : draft.result,
    error: draft.error,
  });
};
