// The one function that translates errors of other software. Whatever comes in, a ToolplaneError comes out; the original stays
// as its cause, for the log. A foreign message does not cross, because it may quote SQL, a path or a secret (I8); only for
// exceptions of tool code, whose words are meant for the agent, the caller asks to keep it.

import { isErrorCode } from "./error-table.ts";
import { BLAMES_CALLER, BUS_CODES, ERROR_NAMES, type Meaning, SQL_STATES, SYSTEM_CODES } from "./foreign-errors.ts";
import { fromSchemaIssues } from "./parse-with.ts";
import type { SchemaIssue } from "./schema-issue.ts";
import { type ErrorDetail, ToolplaneError, UsageError } from "./toolplane-error.ts";

export interface UnderstandOptions {
  /**
   * For exceptions thrown by a tool. A foreign error keeps its own text, which the tool's author wrote for the caller. It never
   * counts as the caller's mistake, because the tool did not declare it (utp 8.8).
   */
  readonly keepMessage?: boolean;
}

/** The limit for following wrapped errors; a chain may be endless. */
const MAX_CAUSES = 5;

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;
const lookUp = <T>(table: Readonly<Record<string, T>>, key: unknown): T | undefined =>
  typeof key === "string" && Object.hasOwn(table, key) ? table[key] : undefined;

const isSqlState = (code: unknown): code is string => {
  if (typeof code !== "string" || code.length !== 5) return false;
  for (let i = 0; i < 5; i++) {
    const c = code.charCodeAt(i);
    if (!((c >= 48 && c <= 57) || (c >= 65 && c <= 90))) return false;
  }
  return true;
};

/** Five capital letters and digits could be a system code too (EPIPE); those are looked up first. */
const sqlMeaning = (error: Fields): Meaning | undefined =>
  isSqlState(error.code) && (Object.hasOwn(error, "severity") || Object.hasOwn(error, "sqlState"))
    ? (lookUp(SQL_STATES, error.code) ?? lookUp(SQL_STATES, error.code.slice(0, 2)) ?? SQL_STATES.XX)
    : undefined;

const busMeaning = (error: Fields): Meaning | undefined =>
  error.name === "JetStreamApiError"
    ? (lookUp(BUS_CODES, String(error.code)) ?? { code: "upstream_unavailable", message: "the message bus refused" })
    : undefined;

/** The foreign code or name is a word from a table, never data, so it may be shown. */
const fromMeaning = (meaning: Meaning, error: Fields): ToolplaneError => {
  const reason = typeof error.code === "string" || typeof error.code === "number" ? String(error.code) : error.name;
  return new ToolplaneError(meaning.code, meaning.message, { detail: { reason }, cause: error });
};

const asIssues = (error: Fields): readonly SchemaIssue[] | undefined => {
  const { issues } = error;
  if (!Array.isArray(issues) || issues.length === 0) return undefined;
  const isIssue = (issue: unknown): issue is SchemaIssue =>
    isObject(issue) && typeof issue.message === "string" && (issue.path === undefined || Array.isArray(issue.path));
  return issues.every(isIssue) ? issues : undefined;
};

/** A ToolplaneError from another copy of this package, or one that crossed a wire. */
const fromOurShape = (error: Fields): ToolplaneError | undefined => {
  const { code, message, detail } = error;
  if (!isErrorCode(code) || typeof message !== "string") return undefined;
  return new ToolplaneError(code, message, {
    detail: isObject(detail) ? (detail as ErrorDetail) : undefined,
    cause: error,
  });
};

/** A table entry for the error itself. */
const meaningOf = (error: Fields): Meaning | undefined =>
  lookUp(SYSTEM_CODES, error.code) ?? sqlMeaning(error) ?? busMeaning(error) ?? lookUp(ERROR_NAMES, error.name);

const causesOf = (error: Fields): readonly unknown[] => {
  const inner: unknown = Array.isArray(error.errors) ? error.errors[0] : undefined;
  return [error.cause, inner];
};

/** A missing file where a tool works, or a schema that its own data breaks, is the tool's fault. */
const asBug = (error: ToolplaneError): ToolplaneError =>
  BLAMES_CALLER.has(error.code)
    ? new ToolplaneError("internal_error", error.message, { detail: error.detail, cause: error.cause })
    : error;

const understandKnown = (error: unknown, ofTool: boolean, levelsLeft: number): ToolplaneError | undefined => {
  if (error instanceof ToolplaneError) return error;
  if (!isObject(error) || levelsLeft === 0) return undefined;
  const issues = asIssues(error);
  const meaning = issues === undefined ? meaningOf(error) : undefined;
  const foreign =
    issues === undefined
      ? meaning && fromMeaning(meaning, error)
      : fromSchemaIssues(issues, ofTool ? "what the tool read" : "the input", { cause: error });
  if (foreign !== undefined) return ofTool ? asBug(foreign) : foreign;
  const ours = error.name === "ToolplaneError" || !(error instanceof Error) ? fromOurShape(error) : undefined;
  if (ours !== undefined) return ours;
  for (const cause of causesOf(error)) {
    const known = understandKnown(cause, ofTool, levelsLeft - 1);
    if (known !== undefined) return known;
  }
  return undefined;
};

const ownText = (error: unknown): string => {
  if (typeof error === "string") return error;
  return isObject(error) && typeof error.message === "string" ? error.message : "";
};

/** An AggregateError of Node's sockets has no words of its own: its first error has them. */
const wordsOf = (error: unknown): string => {
  const own = ownText(error).trim();
  const inner: unknown = isObject(error) && Array.isArray(error.errors) ? error.errors[0] : undefined;
  return own === "" ? ownText(inner).trim() : own;
};

/** What these say is only that something inside failed: the words of the errors inside come after them. */
const EMPTY_WORDS: ReadonlySet<string> = new Set(["fetch failed", "All promises were rejected"]);
/** More reasons do not help a reader of one sentence; the diagnostics have them all. */
const MAX_REASONS = 3;

const isEmptyWords = (text: string): boolean => text === "" || EMPTY_WORDS.has(text);

const wordsWithReasons = (error: unknown, levelsLeft: number): string => {
  const own = ownText(error).trim();
  if (!isObject(error) || levelsLeft === 0 || !isEmptyWords(own)) return own;
  const parts: readonly unknown[] = Array.isArray(error.errors) ? error.errors : [];
  const inner = [error.cause, ...parts].map((one) => wordsWithReasons(one, levelsLeft - 1));
  const reasons = [...new Set(inner.filter((text) => text !== ""))].slice(0, MAX_REASONS).join("; ");
  return [own, reasons].filter((text) => text !== "").join(": ");
};

/**
 * A system error of a tool in its own words: which file is missing, which address refused. `fetch failed` alone says nothing, so the
 * words of the error inside come after those of the error that was thrown.
 */
const inOwnWords = (thrown: unknown, known: ToolplaneError): ToolplaneError => {
  const { cause } = known;
  // An error of ours has its own sentence, also when a system error is behind it.
  if (!isObject(cause) || lookUp(SYSTEM_CODES, cause.code)?.message !== known.message) return known;
  const words = [...new Set([wordsOf(thrown), wordsOf(cause)])].filter((text) => text !== "").join(": ");
  return words === "" ? known : new ToolplaneError(known.code, words, { detail: known.detail, cause });
};

const understandForeign = (error: unknown, keepMessage: boolean): ToolplaneError => {
  if (error === undefined || error === null) {
    return new ToolplaneError("unknown_error", "something failed without saying what");
  }
  const text = keepMessage && !(error instanceof UsageError) ? wordsWithReasons(error, MAX_CAUSES) : "";
  return new ToolplaneError("internal_error", text === "" ? "something failed that should not have" : text, {
    cause: error,
  });
};

export const understandError = (error: unknown, options: UnderstandOptions = {}): ToolplaneError => {
  try {
    const ofTool = options.keepMessage === true;
    const known = understandKnown(error, ofTool, MAX_CAUSES);
    if (known === undefined) return understandForeign(error, ofTool);
    return ofTool ? inOwnWords(error, known) : known;
  } catch {
    // An error that throws while it is read (a hostile getter) is still only an error.
    return new ToolplaneError("internal_error", "something failed that should not have");
  }
};
