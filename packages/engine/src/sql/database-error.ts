// The one place that translates errors of PostgreSQL and its driver. SQL text and parameters never leave it (I8).

import { isToolplaneError, ToolplaneError, UsageError } from "@toolplane/protocol";

interface DriverError {
  readonly code?: unknown;
  readonly constraint?: unknown;
  readonly message?: unknown;
}

/** Raised by the trigger that keeps cards immutable (I7). */
const CARD_CONFLICT = "TP007";
const UNIQUE_VIOLATION = "23505";
const CARD_KEY = "cards_pkey";

/** The server's answer to a NUL character, the only character of ours that it cannot store. */
const NO_TEXT = "22021";

const DISK_FULL = "53100";

/** For operations that are not a statement of a file: a text that tells an operator where to look. */
const WHAT_FAILED: Readonly<Record<string, string>> = { connect: "there is no connection to the database" };

const isSqlState = (code: unknown): code is string => typeof code === "string" && /^[0-9A-Z]{5}$/.test(code);

// Wrong data, a broken constraint, a deadlock, a lock or time limit, our own refusals. Every other error may be about the
// connection: above all a plan that no longer fits its table (0A000) would fail there again and again.
const OF_THE_STATEMENT = ["22", "23", "40", "55P03", "57014", "TP"];

/** The server answered, and the connection can be used further. For errors that were translated here. */
export const isOfTheStatement = (error: unknown): boolean => {
  const { code } = ((error as Error | undefined)?.cause ?? {}) as DriverError;
  return isSqlState(code) && OF_THE_STATEMENT.some((start) => code.startsWith(start));
};

/** The database did not answer, or not in time: the statement may or may not have been carried out. */
export const isAway = (error: unknown): boolean => isToolplaneError(error) && error.code === "storage_error";

export const understandDatabaseError = (error: unknown, statement: string): Error => {
  if (isToolplaneError(error) || error instanceof UsageError) return error;
  const { code, constraint } = (error ?? {}) as DriverError;
  if (code === CARD_CONFLICT || (code === UNIQUE_VIOLATION && constraint === CARD_KEY))
    return new ToolplaneError("conflict", "a card with this id exists with other content", { cause: error });
  if (code === NO_TEXT)
    return new ToolplaneError("bad_request", "text with a NUL character can neither be stored nor found", {
      cause: error,
    });
  const detail = {
    statement,
    ...(isSqlState(code) ? { sqlstate: code } : {}),
    ...(typeof constraint === "string" ? { constraint } : {}),
  };
  if (isSqlState(code) && (code.startsWith("22") || code.startsWith("23") || code.startsWith("42")))
    return new ToolplaneError("internal_error", `the database refused statement ${statement} (${code})`, {
      detail,
      cause: error,
    });
  // Connection trouble, shutdown, deadlock, serialisation, out of resources: trying again may help. A statement whose
  // connection broke may have been carried out, so the retry must find its own rows (coalescer C3).
  const what = code === DISK_FULL ? "the database's disk is full: make room there" : WHAT_FAILED[statement];
  return new ToolplaneError("storage_error", what ?? `the database did not carry out statement ${statement}`, {
    detail,
    cause: error,
  });
};
