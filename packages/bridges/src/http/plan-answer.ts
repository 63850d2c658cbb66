// From the answer of an API to the result or the error of a call (utp 9). Pure.
//   PA1. A 2xx answer is a result: JSON as it is, other text as `{ data }`, bytes as base64. An object gets `latency_ms`.
//   PA2. Any other status, and a 2xx body with a non-null `error`, is a failure with the code of its status.
//   PA3. Only 429, 502, 503 and 504 are tried again in the same run, and only by tools that are `retry: safe`; a pause that the
//        API asks for is kept.
//   PA4. What is stored of a failed answer is scrubbed first and then cut.

import { isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import { ToolError } from "@toolplane/sdk";
import { isJsonType } from "./write-body.ts";

export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  readonly host: string;
  readonly body: Uint8Array;
  readonly latencyMs: number;
}

export interface AnswerMeans {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly now: number;
  readonly scrub: (text: string) => string;
  /** The variable whose value was the credential. */
  readonly variable?: string | undefined;
}

/** Enough for a sentence or a small JSON; an error page is much longer. */
const MAX_DETAILS = 2_000;

const TEXTUAL =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|yaml|x-yaml|javascript|x-ndjson|graphql|x-www-form-urlencoded)\b)/iu;

const decode = ({ body, contentType }: HttpAnswer): string => {
  const charset = /charset="?([\w-]+)/iu.exec(contentType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    // An unknown charset.
    return new TextDecoder().decode(body);
  }
};

const parse = (text: string): JsonValue | undefined => {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
};

const CODES: Readonly<Record<number, string>> = {
  401: "auth_failed",
  403: "auth_failed",
  404: "not_found",
  408: "tool_timeout",
  429: "upstream_unavailable",
};

const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const codeOfStatus = (status: number): string =>
  CODES[status] ?? (status >= 400 && status < 500 ? "bad_request" : "upstream_unavailable");

/** Seconds or a date, as a pause in milliseconds; undefined for anything else. */
const readRetryAfter = (text: string | undefined, now: number): number | undefined => {
  const given = text?.trim() ?? "";
  if (/^\d{1,9}$/u.test(given)) return Number(given) * 1_000;
  const at = /[a-z]/iu.test(given) ? Date.parse(given) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
};

const detailsOf = (answer: HttpAnswer, { scrub }: AnswerMeans): JsonValue => {
  const text = scrub(decode(answer));
  const json = text.length <= MAX_DETAILS && isJsonType(answer.contentType) ? parse(text) : undefined;
  return json ?? text.slice(0, MAX_DETAILS).toWellFormed();
};

const failure = (answer: HttpAnswer, why: string, means: AnswerMeans): ToolError => {
  const { status, host } = answer;
  const retryAfterMs = readRetryAfter(answer.retryAfter, means.now);
  const code = status < 300 ? "upstream_unavailable" : codeOfStatus(status);
  const isAgain = AGAIN.has(status);
  return new ToolError(code, `${host} ${why}`, {
    detail: {
      status_code: status,
      details: detailsOf(answer, means),
      tool_name: means.toolName,
      tool_call_id: means.toolCallId,
      ...(status === 401 && means.variable !== undefined ? { variable: means.variable } : {}),
      ...(retryAfterMs === undefined ? {} : { retry_after_seconds: Math.ceil(retryAfterMs / 1_000) }),
    },
    retryable: code === "upstream_unavailable" && status >= 400,
    retryHere: isAgain,
    ...(isAgain && retryAfterMs !== undefined ? { retryAfterMs } : {}),
  });
};

const withLatency = (value: JsonValue, latencyMs: number): JsonObject => {
  if (!isRecord(value) || Array.isArray(value)) return { value, latency_ms: latencyMs };
  return Object.hasOwn(value, "latency_ms")
    ? (value as JsonObject)
    : { ...(value as JsonObject), latency_ms: latencyMs };
};

/** The value of a result; throws the error of a failed one. */
export const planAnswer = (answer: HttpAnswer, means: AnswerMeans): JsonObject => {
  const { status, contentType, body, latencyMs } = answer;
  if (status < 200 || status >= 300) throw failure(answer, `answered with HTTP ${status}`, means);
  if (body.byteLength > 0 && contentType !== "" && !TEXTUAL.test(contentType))
    return {
      data: Buffer.from(body).toString("base64"),
      encoding: "base64",
      content_type: contentType,
      latency_ms: latencyMs,
    };
  const text = decode(answer);
  const json = isJsonType(contentType) ? parse(text) : undefined;
  if (json === undefined) return { data: text, latency_ms: latencyMs };
  if (isRecord(json) && !Array.isArray(json) && !isAbsent((json as JsonObject).error))
    throw failure(answer, `answered with HTTP ${status} and an error in the body`, means);
  return withLatency(json, latencyMs);
};

const isAbsent = (value: JsonValue | undefined): boolean => value === undefined || value === null;
