// What the errors of other software mean in our words. Data only; `understand-error.ts` reads it.
// Messages here replace the original ones where those could carry data (SQL values, host names, file paths).

import type { ErrorCode } from "./error-table.ts";

export interface Meaning {
  readonly code: ErrorCode;
  readonly message: string;
}

const unreachable: Meaning = { code: "upstream_unavailable", message: "the other side could not be reached" };
const noAnswer: Meaning = { code: "tool_timeout", message: "the other side did not answer in time" };
const exhausted: Meaning = { code: "internal_error", message: "this machine ran out of a resource" };
const storeAway: Meaning = { code: "storage_error", message: "the database is not available" };
const storeBusy: Meaning = { code: "storage_error", message: "the database refused because of concurrent work" };
const storeBug: Meaning = { code: "internal_error", message: "the database refused the statement" };
const badValue: Meaning = { code: "bad_request", message: "a value does not fit the database's type" };
const busAway: Meaning = { code: "upstream_unavailable", message: "the message bus is not available" };
const busDenied: Meaning = { code: "auth_failed", message: "the message bus refused the credentials or the subject" };

/** `error.code` of Node's system calls and of its HTTP client. */
export const SYSTEM_CODES: Readonly<Record<string, Meaning>> = {
  ECONNREFUSED: unreachable,
  ECONNRESET: unreachable,
  ECONNABORTED: unreachable,
  EPIPE: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ENETDOWN: unreachable,
  ENOTFOUND: unreachable,
  EAI_AGAIN: unreachable,
  ETIMEDOUT: unreachable,
  UND_ERR_CONNECT_TIMEOUT: unreachable,
  UND_ERR_SOCKET: unreachable,
  UND_ERR_HEADERS_TIMEOUT: noAnswer,
  UND_ERR_BODY_TIMEOUT: noAnswer,
  ENOENT: { code: "not_found", message: "a file or directory does not exist" },
  EEXIST: { code: "conflict", message: "a file or directory already exists" },
  EACCES: { code: "auth_failed", message: "the operating system refused access" },
  EPERM: { code: "auth_failed", message: "the operating system refused access" },
  EMFILE: exhausted,
  ENFILE: exhausted,
  ENOMEM: exhausted,
  ENOSPC: exhausted,
};

/** SQLSTATE, by code where it matters and by class (the first two characters) otherwise. */
export const SQL_STATES: Readonly<Record<string, Meaning>> = {
  "23505": { code: "conflict", message: "a row with the same key exists" },
  "23503": { code: "not_found", message: "a row this one refers to does not exist" },
  "23502": { code: "bad_request", message: "a required value is missing" },
  "23514": { code: "bad_request", message: "a value breaks a rule of the database" },
  "40001": storeBusy,
  "40P01": storeBusy,
  "55P03": storeBusy,
  "57014": { code: "storage_error", message: "the database ended the statement: it took too long" },
  "22": badValue,
  "23": { code: "conflict", message: "the database refused the row" },
  "08": storeAway,
  "28": { code: "storage_error", message: "the database refused the credentials" },
  "3D": storeAway,
  "40": storeBusy,
  "42": storeBug,
  "53": { code: "storage_error", message: "the database ran out of a resource" },
  "57": storeAway,
  "58": storeAway,
  XX: storeBug,
};

/** Error names: the message bus client, abort signals, and what other languages call the same things. */
export const ERROR_NAMES: Readonly<Record<string, Meaning>> = {
  AbortError: { code: "canceled", message: "the work was canceled" },
  TimeoutError: noAnswer,
  NoResponders: busAway,
  NoRespondersError: busAway,
  ConnectionError: busAway,
  ClosedConnectionError: busAway,
  DrainingConnectionError: busAway,
  RequestError: busAway,
  AuthorizationError: busDenied,
  UserAuthenticationExpiredError: busDenied,
  PermissionViolationError: busDenied,
};

/** Codes that blame the caller: an error that a tool did not declare never gets one. */
export const BLAMES_CALLER: ReadonlySet<ErrorCode> = new Set(["bad_request", "not_found", "conflict", "auth_failed"]);

/** A JetStream API error carries a number of its own; these are the ones with a meaning for callers. */
export const BUS_CODES: Readonly<Record<string, Meaning>> = {
  "10059": { code: "not_found", message: "the stream does not exist" },
  "10014": { code: "not_found", message: "the consumer does not exist" },
  "10037": { code: "not_found", message: "the message does not exist" },
  "10071": { code: "conflict", message: "the stream has moved on" },
};
