// How a tool fails on purpose. Its code and message reach the caller. The message of a plain Error reaches the caller too, its
// stack never does. Codes of the error table bring their retry advice; a tool may use codes of its own. Whatever else is thrown is a
// bug (`internal_error`), and the value itself is shown.

import {
  type ErrorEnvelope,
  isFilled,
  isRecord,
  normaliseError,
  ToolplaneError,
  understandError,
  withAdvice,
} from "@toolplane/protocol";
import { isErrorLike, showThrown, UNREADABLE } from "./thrown-value.ts";

export interface ToolErrorOptions {
  readonly detail?: unknown;
  /** May the same call be tried again? Overrules what the error table says of the code. */
  readonly retryable?: boolean | undefined;
  /** May the runner try again in this run? As `retryable` says, unless given. Only for tools that are `retry: safe`. */
  readonly retryHere?: boolean | undefined;
  /** How long the other side asks to be left alone (`Retry-After`). */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly code: string;
  readonly detail: unknown;
  readonly retryable: boolean | undefined;
  readonly retryHere: boolean | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: string, message: string, options: ToolErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.detail = options.detail;
    this.retryable = options.retryable;
    this.retryHere = options.retryHere;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** A ToolError from another copy of this package has the name and the code, but not the class. */
const isToolError = (error: unknown): error is ToolError =>
  error instanceof ToolError ||
  (error instanceof Error && error.name === "ToolError" && isFilled((error as { readonly code?: unknown }).code));

export interface UnderstoodError {
  readonly envelope: ErrorEnvelope;
  /** What the tool itself said about trying again in this run, if it said anything. */
  readonly retryable: boolean | undefined;
  readonly retryAfterMs: number | undefined;
}

/** An object in the shape of an error of a result: the tool says its code by itself. */
const declaresError = (thrown: unknown): thrown is Record<string, unknown> =>
  isRecord(thrown) &&
  !(thrown instanceof Error) &&
  (((isFilled(thrown.code) || typeof thrown.code === "number") && isFilled(thrown.message)) ||
    isFilled(thrown.error_code) ||
    isFilled(thrown.error_message));

/** A text, a number, an object without a message, nothing: a bug, and its text is all that can be said about it. */
const asBug = (thrown: unknown, scrub: (text: string) => string): ToolplaneError =>
  isErrorLike(thrown)
    ? understandError(thrown, { keepMessage: true })
    : new ToolplaneError("internal_error", showThrown(thrown, scrub));

const understandAny = (error: unknown, scrub: (text: string) => string): UnderstoodError => {
  if (isToolError(error)) {
    const { code, message, detail, retryable, retryHere = retryable, retryAfterMs } = error;
    const said = { code, message, detail, retryable };
    const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
    return { envelope: withAdvice(normaliseError(given, { source: "tool" })), retryable: retryHere, retryAfterMs };
  }
  const isOwn = declaresError(error);
  return {
    envelope: normaliseError(isOwn || error instanceof Error ? error : asBug(error, scrub), { source: "tool" }),
    retryable: isOwn && typeof error.retryable === "boolean" ? error.retryable : undefined,
    retryAfterMs: undefined,
  };
};

/** Turns whatever a tool threw into the error of a result. `scrub` is for values that must be cut before they are sent. */
export const understandToolError = (
  error: unknown,
  scrub: (text: string) => string = (text) => text,
): UnderstoodError => {
  try {
    return understandAny(error, scrub);
  } catch {
    // A value that throws while it is looked at.
    const unreadable = new ToolplaneError("internal_error", UNREADABLE);
    return { envelope: normaliseError(unreadable, { source: "tool" }), retryable: undefined, retryAfterMs: undefined };
  }
};
