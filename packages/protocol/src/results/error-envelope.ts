// One shape for every error a result can carry: {code, message, source?, detail?, retryable?, http_status?}.
// Whatever a tool gives - an exception, a text, an object in either of two spellings, nothing - becomes that shape.

import { ERROR_TABLE, isErrorCode } from "../errors/error-table.ts";
import { isToolplaneError, type ToolplaneError } from "../errors/toolplane-error.ts";
import { understandError } from "../errors/understand-error.ts";
import { canonicalText } from "../json/canonical-text.ts";
import { isFilled, isRecord, type JsonObject } from "../json/json-value.ts";
import { storableText } from "../json/storable-text.ts";

export type ErrorSource = "tool" | "worker" | "watchdog" | "unknown";

export interface ErrorEnvelope {
  readonly code: string;
  readonly message: string;
  readonly source?: string;
  readonly detail?: unknown;
  readonly retryable?: boolean;
  readonly http_status?: number;
}

export interface NormaliseErrorOptions {
  readonly source?: ErrorSource;
}

/** Of an error without a code: the tool answered with a refusal. */
const DEFAULT_ERROR_CODE = "tool_error";
export const UNKNOWN_ERROR: ErrorEnvelope = { code: "unknown_error", message: "unknown error" };

/** An object without known fields is quoted up to this length. */
const MAX_QUOTED_CHARS = 2000;

const codeText = (code: unknown): string | undefined => {
  if (typeof code === "number") return String(code);
  return isFilled(code) ? code.trim() : undefined;
};

const quote = (value: unknown): string => {
  try {
    return canonicalText(value).slice(0, MAX_QUOTED_CHARS).toWellFormed();
  } catch {
    return Object.prototype.toString.call(value);
  }
};

/** A stack belongs into a log, never into a card. */
const withoutStack = (error: Record<string, unknown>): Record<string, unknown> => {
  if (!Object.hasOwn(error, "stack")) return error;
  const { stack: _stack, ...rest } = error;
  return rest;
};

const envelopeOf = (error: ToolplaneError, source?: ErrorSource): ErrorEnvelope => ({
  code: error.code,
  message: isFilled(error.message) ? storableText(error.message) : ERROR_TABLE[error.code].meaning,
  ...(source === undefined ? {} : { source }),
  ...(error.detail === undefined ? {} : { detail: error.detail }),
  retryable: error.retry === "later",
  http_status: error.http,
});

const fromObject = (error: Record<string, unknown>): ErrorEnvelope => {
  const code = codeText(error.code);
  if (code !== undefined && isFilled(error.message)) {
    return { ...withoutStack(error), code, message: error.message };
  }
  const mappedCode = codeText(error.error_code);
  if (mappedCode !== undefined || isFilled(error.error_message)) {
    const detail = error.error_detail ?? error.detail;
    return {
      code: mappedCode ?? DEFAULT_ERROR_CODE,
      message: isFilled(error.error_message) ? error.error_message : (mappedCode ?? DEFAULT_ERROR_CODE),
      ...(detail === undefined || detail === null ? {} : { detail }),
    };
  }
  return { code: DEFAULT_ERROR_CODE, message: isFilled(error.message) ? error.message : quote(error) };
};

const normaliseAny = (error: unknown): ErrorEnvelope => {
  if (error === null || error === undefined) return { ...UNKNOWN_ERROR };
  if (typeof error === "string")
    return isFilled(error) ? { code: DEFAULT_ERROR_CODE, message: error } : { ...UNKNOWN_ERROR };
  if (error instanceof Error) return envelopeOf(understandError(error, { keepMessage: true }));
  return isRecord(error) ? fromObject(error) : { code: DEFAULT_ERROR_CODE, message: quote(error) };
};

/** Never throws; the code and the message of what comes out are never blank. */
export const normaliseError = (error: unknown, options: NormaliseErrorOptions = {}): ErrorEnvelope => {
  let envelope: ErrorEnvelope;
  try {
    if (isToolplaneError(error)) return envelopeOf(error, options.source);
    envelope = normaliseAny(error);
  } catch {
    envelope = { ...UNKNOWN_ERROR };
  }
  return options.source === undefined || envelope.source !== undefined
    ? envelope
    : { ...envelope, source: options.source };
};

/** Adds what the error table knows about a code, where the error does not say it itself. */
export const withAdvice = (envelope: ErrorEnvelope): ErrorEnvelope => {
  if (!isErrorCode(envelope.code)) return envelope;
  const { http, retry } = ERROR_TABLE[envelope.code];
  return { retryable: retry === "later", http_status: http, ...envelope };
};

/** What a failed call shows in `result`, so that readers of results alone see the failure too. */
export const errorResult = (envelope: ErrorEnvelope): JsonObject => ({
  error_code: envelope.code,
  error_message: envelope.message,
  error: envelope as unknown as JsonObject,
  ...(envelope.detail === undefined ? {} : { error_detail: envelope.detail as JsonObject }),
});
