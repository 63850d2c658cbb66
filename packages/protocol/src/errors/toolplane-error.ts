// Errors that cross the wire (ToolplaneError) and errors that never do (UsageError).
// A ToolplaneError is written out as {code, message, detail?}; stack, cause, SQL and parameters stay here (I8).

import { ERROR_TABLE, type ErrorCode, type RetryAdvice } from "./error-table.ts";

export type ErrorDetail = Readonly<Record<string, unknown>>;

export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly detail?: ErrorDetail;
  readonly retryable: boolean;
}

export interface ToolplaneErrorOptions {
  readonly detail?: ErrorDetail | undefined;
  readonly cause?: unknown;
  readonly callId?: string | undefined;
}

export class ToolplaneError extends Error {
  override readonly name = "ToolplaneError";
  readonly code: ErrorCode;
  readonly detail: ErrorDetail | undefined;
  /** The call it is about, if one exists: set on errors that a caller's client throws. It does not cross the wire. */
  readonly callId: string | undefined;

  constructor(code: ErrorCode, message: string, options: ToolplaneErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.detail = options.detail;
    this.callId = options.callId;
  }

  get http(): number {
    return ERROR_TABLE[this.code].http;
  }

  get retry(): RetryAdvice {
    return ERROR_TABLE[this.code].retry;
  }

  /** The same request may work later, without a change. */
  get retryable(): boolean {
    return this.retry === "later";
  }

  /** What a caller sees: never a stack, a cause or a parameter. */
  toWire(): WireError {
    const base = { code: this.code, message: this.message, retryable: this.retryable };
    return this.detail === undefined ? base : { ...base, detail: this.detail };
  }
}

/** The program was written wrong (a missing option, a call in the wrong order). Never crosses the wire. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const isToolplaneError = (value: unknown): value is ToolplaneError => value instanceof ToolplaneError;

/** Shorthand for the most common refusal at a boundary. */
export const violation = (message: string, detail?: ErrorDetail): ToolplaneError =>
  new ToolplaneError("protocol_violation", message, { detail });

/** The same for what a caller, a definition or a document asks for and cannot have. */
export const badRequest = (message: string): ToolplaneError => new ToolplaneError("bad_request", message);
