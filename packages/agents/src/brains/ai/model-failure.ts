// What went wrong between us and a model endpoint: a code, one sentence, and whether another attempt may pass.
// No response body, header or prompt gets into it (BR3, I8): of the endpoint's answer only a short code is kept.

import { type ErrorCode, isRecord, ToolplaneError } from "@toolplane/protocol";

/** The SDK's error for a request that was made, recognised by its shape: importing its class would load the whole SDK. */
interface CallError {
  readonly statusCode?: number | undefined;
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined;
  readonly data?: unknown;
}

const isCallError = (error: unknown): error is CallError => isRecord(error) && error.name === "AI_APICallError";

export interface ModelFailure {
  readonly error: ToolplaneError;
  readonly retry: boolean;
  /** How long the endpoint asks us to wait. */
  readonly retryAfterMs?: number | undefined;
}

interface Verdict {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retry: boolean;
}

const STATUSES: Readonly<Record<number, Verdict>> = {
  401: {
    code: "auth_failed",
    message: "the model endpoint refused the key; check the variable named in llm_config.api_key",
    retry: false,
  },
  402: {
    code: "auth_failed",
    message: "the model endpoint asks for payment; check the account of the key",
    retry: false,
  },
  403: { code: "auth_failed", message: "the model endpoint does not let this key use the model", retry: false },
  404: {
    code: "not_found",
    message: "the model endpoint does not know this model or path; check llm_config.model and api_base",
    retry: false,
  },
  408: { code: "upstream_unavailable", message: "the model endpoint timed out", retry: true },
  413: { code: "payload_too_large", message: "the conversation is too large for the model endpoint", retry: false },
  429: { code: "rate_limited", message: "the model endpoint has had too many requests", retry: true },
};

const byStatus = (status: number): Verdict => {
  const known = Object.hasOwn(STATUSES, status) ? STATUSES[status] : undefined;
  if (known !== undefined) return known;
  if (status >= 500) return { code: "upstream_unavailable", message: "the model endpoint failed", retry: true };
  if (status >= 400) return { code: "bad_request", message: "the model endpoint refused the request", retry: false };
  if (status >= 300)
    return {
      code: "upstream_unavailable",
      message: "the model endpoint redirects; give its final address as llm_config.api_base",
      retry: false,
    };
  return {
    code: "upstream_unavailable",
    message: "the model endpoint answered with something that is not a completion",
    retry: false,
  };
};

/** Short words such as `context_length_exceeded`; a longer text may be a sentence with private data. */
const isCodeWord = (value: unknown): value is string =>
  typeof value === "string" && value.length <= 48 && /^[a-z][a-z_]*$/.test(value);

const providerCode = (data: unknown): string | undefined => {
  const error = isRecord(data) && isRecord(data.error) ? data.error : data;
  return isRecord(error) ? [error.code, error.type].find(isCodeWord) : undefined;
};

/** `retry-after-ms`, or `retry-after` as seconds or as a date. */
export const retryAfterMs = (
  headers: Readonly<Record<string, string>> | undefined,
  now: number,
): number | undefined => {
  const ms = Number(headers?.["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const text = headers?.["retry-after"];
  if (text === undefined) return undefined;
  const seconds = Number(text);
  // A number is never read as a date: "-1" would be a day in 2001.
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
  const date = Date.parse(text);
  return Number.isFinite(date) ? Math.max(0, date - now) : undefined;
};

const MAX_DEPTH = 4;

/** Errors that our own side of the connection raised; the SDK may have wrapped them. */
const findOurs = (error: unknown): ToolplaneError | undefined => {
  let at: unknown = error;
  for (let depth = 0; depth < MAX_DEPTH && at !== undefined && at !== null; depth++) {
    if (at instanceof ToolplaneError) return at;
    at = (at as { readonly cause?: unknown }).cause;
  }
  return undefined;
};

const namesOf = (error: unknown): readonly string[] => {
  const names: string[] = [];
  let at: unknown = error;
  for (let depth = 0; depth < MAX_DEPTH && isRecord(at as object); depth++) {
    const { name, cause } = at as { name?: unknown; cause?: unknown };
    if (typeof name === "string") names.push(name);
    at = cause;
  }
  return names;
};

const isUnreadable = (names: readonly string[]): boolean =>
  names.includes("AI_JSONParseError") || names.includes("AI_TypeValidationError");

const fromCall = (failed: CallError, now: number): ModelFailure => {
  const { statusCode: status } = failed;
  if (status === undefined) return unreachable();
  if (status < 300 && !isUnreadable(namesOf(failed))) return broken();
  const { code, message, retry } = byStatus(status);
  const word = providerCode(failed.data);
  const after = retryAfterMs(failed.responseHeaders, now);
  return {
    error: new ToolplaneError(code, `${message} (HTTP ${status}${word === undefined ? "" : `, ${word}`})`, {
      detail: {
        http_status: status,
        ...(word === undefined ? {} : { reason: word }),
        ...(after === undefined ? {} : { retry_after_seconds: Math.ceil(after / 1000) }),
      },
    }),
    retry,
    retryAfterMs: after,
  };
};

const final = (code: ErrorCode, message: string): ModelFailure => ({
  error: new ToolplaneError(code, message),
  retry: false,
});
const passing = (message: string): ModelFailure => ({
  error: new ToolplaneError("upstream_unavailable", message),
  retry: true,
});

const unreachable = (): ModelFailure => passing("the model endpoint cannot be reached");
const broken = (): ModelFailure => passing("the connection to the model endpoint broke");
export const silent = (): ModelFailure => passing("the model endpoint did not answer in time");

const isPromptFault = (name: string): boolean =>
  name === "AI_InvalidPromptError" || name === "AI_UnsupportedFunctionalityError";

/** Whatever the SDK, the socket or the stream threw. */
export const understandModelFailure = (error: unknown, now: number): ModelFailure => {
  const ours = findOurs(error);
  if (ours !== undefined) return { error: ours, retry: ours.code === "upstream_unavailable" };
  if (isCallError(error)) return fromCall(error, now);
  const names = namesOf(error);
  if (isUnreadable(names)) return passing("the model endpoint sent something that cannot be read");
  if (names.includes("AI_InvalidResponseDataError"))
    return passing("the model endpoint broke off in the middle of its answer");
  if (names.includes("AI_ToolChoiceViolationError"))
    return passing("the model called no tool although llm_config.tool_choice asks for one");
  if (names.includes("AI_NoOutputGeneratedError")) return passing("the model endpoint gave no answer");
  if (names.some(isPromptFault))
    return final("bad_request", "the conversation cannot be put into a form the model takes");
  if (names.includes("AI_LoadAPIKeyError"))
    return final("auth_failed", "the model needs a key; name it in llm_config.api_key");
  if (isRecord(error) && !(error instanceof Error)) return fromStream(error);
  return broken();
};

/** An error that the endpoint sent as a part of its stream. */
const fromStream = (error: Record<string, unknown>): ModelFailure => {
  const word = providerCode(error);
  const limited = word?.includes("rate_limit") === true;
  return {
    error: new ToolplaneError(
      limited ? "rate_limited" : "upstream_unavailable",
      `the model endpoint failed in the middle of its answer${word === undefined ? "" : ` (${word})`}`,
    ),
    retry: true,
  };
};
