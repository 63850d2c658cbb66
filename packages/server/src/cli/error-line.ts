// A failure in one line: the code, what happened, what to do. The stack is for --verbose; with --json the line is JSON.

import { ERROR_TABLE, type ErrorCode, isToolplaneError, ToolplaneError, understandError } from "@toolplane/protocol";
import { jsonText, oneLine } from "./plain-text.ts";
import { WrongUsage } from "./wrong-usage.ts";

const ADVICE: Partial<Record<ErrorCode, string>> = {
  unauthorized: "pass --token, set TOOLPLANE_TOKEN, or run this where the data directory is (--data)",
  auth_failed: "use a token that may do it: toolplane token create",
  not_found: "check the name and --project",
  conflict: "look at what is there, then change the request",
  idempotency_conflict: "use another --key, or the arguments of the first call",
  bad_request: "correct the request",
  outcome_unknown: "look at what the tool did before you try again",
  tool_error: "correct the arguments, or ask the tool's author",
  storage_error: "try again in a moment",
  rate_limited: "try again in a moment",
  agent_busy: "try again in a moment",
};

const BY_RETRY = {
  never: "change the request before you try again",
  later: "try again in a moment",
  unsafe: "the server's log has the cause",
} as const;

const adviceFor = (code: ErrorCode): string => ADVICE[code] ?? BY_RETRY[ERROR_TABLE[code].retry];

/** Seconds until a limit lets the request pass, when the server said so. */
export const secondsToWait = (error: unknown): number | undefined => {
  if (!isToolplaneError(error) || !LIMITED.has(error.code)) return undefined;
  const seconds = error.detail?.retry_after_seconds;
  return typeof seconds === "number" && seconds > 0 ? seconds : undefined;
};

const LIMITED: ReadonlySet<string> = new Set<ErrorCode>(["rate_limited", "breaker_open"]);

const whenAgain = (error: unknown): string | undefined => {
  const seconds = secondsToWait(error);
  return seconds === undefined ? undefined : `try again in ${seconds} s`;
};

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly todo: string;
  readonly detail?: unknown;
}

export const describeFailure = (error: unknown): Failure => {
  if (error instanceof WrongUsage) {
    const todo = error.command === undefined ? "see toolplane help" : `see toolplane help ${error.command}`;
    return { code: "usage", message: error.message, todo };
  }
  const known = understandError(error, { keepMessage: true });
  const { todo, ...detail } = known.detail ?? {};
  return {
    code: known.code,
    message: known.message,
    todo: typeof todo === "string" ? todo : (whenAgain(known) ?? adviceFor(known.code)),
    ...(Object.keys(detail).length === 0 ? {} : { detail }),
  };
};

const ABOUT_TOKENS: ReadonlySet<string> = new Set<ErrorCode>(["unauthorized", "auth_failed"]);

/** A token that was refused and came from a variable: the person may have forgotten that it is set. */
export const adviseToken = (error: unknown, tokenFrom: string): unknown => {
  if (tokenFrom !== "TOOLPLANE_TOKEN" || !isToolplaneError(error) || !ABOUT_TOKENS.has(error.code)) return error;
  if (typeof error.detail?.todo === "string") return error;
  const todo =
    error.code === "unauthorized"
      ? "the token came from TOOLPLANE_TOKEN: unset the variable, or give another token with --token"
      : `${adviceFor(error.code)}; this one came from TOOLPLANE_TOKEN`;
  return new ToolplaneError(error.code, error.message, { detail: { ...error.detail, todo }, cause: error });
};

export const formatFailure = (failure: Failure, json: boolean): string => {
  if (json) return jsonText({ error: failure });
  const { code, message, todo } = failure;
  // Some messages end with the advice already.
  return oneLine(`toolplane: ${code}: ${message}${message.endsWith(todo) ? "" : `; ${todo}`}`);
};

export const stackOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\ncaused by: ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
};
