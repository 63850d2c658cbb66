// The error that an unsuccessful answer stands for, over HTTP and NATS. The server sends {"error": {code, message, detail?,
// retryable}}; any other body (a proxy's page, an older server) is judged by its status.

import { type ErrorCode, type ErrorDetail, isErrorCode, isRecord, ToolplaneError } from "@toolplane/protocol";
import { RETRY_AFTER_DETAIL } from "./patience.ts";

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: "unauthorized",
  403: "auth_failed",
  404: "not_found",
  408: "upstream_unavailable",
  409: "conflict",
  413: "payload_too_large",
  425: "upstream_unavailable",
  429: "rate_limited",
};

const codeForStatus = (status: number): ErrorCode =>
  BY_STATUS[status] ?? (status >= 500 ? "upstream_unavailable" : "bad_request");

/** Seconds from a `Retry-After` header: a number of them, or a date. */
export const parseRetryAfter = (header: string | null, nowMs: number): number | undefined => {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^[0-9]{1,6}$/.test(text)) return Number(text);
  // An HTTP date begins with the name of a day; Date.parse would also read a date into "-5".
  const date = /^[A-Z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - nowMs) / 1_000));
};

export interface FailedAnswer {
  readonly status: number;
  /** The parsed body, or undefined when it was not JSON. */
  readonly body: unknown;
  readonly retryAfterSeconds?: number | undefined;
  /** `POST /projects/demo/tools` or `settle`, for the message. */
  readonly request: string;
}

const saidError = (body: unknown): Record<string, unknown> | undefined =>
  isRecord(body) && isRecord(body.error) ? body.error : undefined;

export const errorFromAnswer = ({ status, body, retryAfterSeconds, request }: FailedAnswer): ToolplaneError => {
  const said = saidError(body);
  const known = isErrorCode(said?.code);
  // A code that this version does not know is replaced by the status's code: a 5xx is the server's trouble, a 4xx its decision.
  const code = known ? (said?.code as ErrorCode) : codeForStatus(status);
  const message =
    typeof said?.message === "string" && said.message !== "" ? said.message : `${request} answered ${status}`;
  const detail: ErrorDetail = {
    ...(isRecord(said?.detail) ? said.detail : {}),
    ...(said !== undefined && !known && typeof said.code === "string" ? { code: said.code } : {}),
    ...(retryAfterSeconds === undefined ? {} : { [RETRY_AFTER_DETAIL]: retryAfterSeconds }),
    http_status: status,
  };
  return new ToolplaneError(code, message, { detail });
};
