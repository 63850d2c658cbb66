// W3C traceparent values: read, write, make, continue. Ids are passed in, so everything here is repeatable.
// Stricter than the shape alone: version `ff`, an all-zero trace id and an all-zero span id are refused, because a
// peer's tracing library would drop such a value and silently cut the trace in two.
// What comes in may be in upper case; what goes out never is.

import { type ErrorDetail, UsageError, violation } from "../errors/toolplane-error.ts";

/** Where new ids come from. `traceId` may give 32 hex digits or a dashed UUID; `spanId` gives 16 hex digits, not all zero. */
export interface TraceIds {
  traceId(): string;
  spanId(): string;
}

export interface Traceparent {
  readonly version: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: string;
}

const TRACEPARENT_LENGTH = 55;
const TRACE_ID_LENGTH = 32;
const SPAN_ID_LENGTH = 16;
const UUID_LENGTH = 36;
const DASH = 0x2d;

/** Every span this project makes is sampled: a call without a record cannot be explained later. */
const SAMPLED = "01";
const CURRENT_VERSION = "00";

const isHexCode = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66) || (code >= 0x41 && code <= 0x46);

const isHexRange = (text: string, start: number, end: number): boolean => {
  for (let i = start; i < end; i += 1) {
    if (!isHexCode(text.charCodeAt(i))) return false;
  }
  return true;
};

const isZeroRange = (text: string, start: number, end: number): boolean => {
  for (let i = start; i < end; i += 1) {
    if (text.charCodeAt(i) !== 0x30) return false;
  }
  return true;
};

/** Why the text is not a traceparent, or undefined when it is one. */
const traceparentFault = (text: string): string | undefined => {
  if (text.length !== TRACEPARENT_LENGTH) return "is not 55 characters long";
  if (text.charCodeAt(2) !== DASH || text.charCodeAt(35) !== DASH || text.charCodeAt(52) !== DASH) {
    return "is not of the form hh-32hex-16hex-hh";
  }
  if (!isHexRange(text, 0, 2) || !isHexRange(text, 3, 35) || !isHexRange(text, 36, 52) || !isHexRange(text, 53, 55)) {
    return "is not of the form hh-32hex-16hex-hh";
  }
  if ((text.charCodeAt(0) | 0x20) === 0x66 && (text.charCodeAt(1) | 0x20) === 0x66) return "has version ff";
  if (isZeroRange(text, 3, 35)) return "has an all-zero trace id";
  if (isZeroRange(text, 36, 52)) return "has an all-zero span id";
  return undefined;
};

const split = (text: string): Traceparent => ({
  version: text.slice(0, 2),
  traceId: text.slice(3, 35),
  spanId: text.slice(36, 52),
  flags: text.slice(53, 55),
});

export const tryParseTraceparent = (text: unknown): Traceparent | undefined =>
  typeof text === "string" && traceparentFault(text) === undefined ? split(text.toLowerCase()) : undefined;

export const parseTraceparent = (text: unknown, name = "traceparent", detail?: ErrorDetail): Traceparent => {
  if (typeof text !== "string") throw violation(`${name} is not a string`, detail);
  const fault = traceparentFault(text);
  if (fault !== undefined) throw violation(`${name} ${fault}`, detail);
  return split(text.toLowerCase());
};

/** 32 lower-case hex digits from 32 hex digits or a dashed UUID; anything else is a violation. */
export const parseTraceId = (value: unknown, name = "trace_id"): string => {
  const text = typeof value === "string" ? compactUuid(value) : "";
  if (text.length !== TRACE_ID_LENGTH || !isHexRange(text, 0, TRACE_ID_LENGTH)) {
    throw violation(`${name} is neither 32 hex digits nor a dashed UUID`);
  }
  if (isZeroRange(text, 0, TRACE_ID_LENGTH)) throw violation(`${name} is all zero`);
  return text.toLowerCase();
};

const compactUuid = (text: string): string => {
  if (text.length !== UUID_LENGTH) return text;
  for (const at of [8, 13, 18, 23]) {
    if (text.charCodeAt(at) !== DASH) return text;
  }
  return text.slice(0, 8) + text.slice(9, 13) + text.slice(14, 18) + text.slice(19, 23) + text.slice(24);
};

/** A wrong id here is the program's own mistake, never the peer's. */
const mintSpanId = (ids: TraceIds): string => {
  const text = ids.spanId().toLowerCase();
  const sound = text.length === SPAN_ID_LENGTH && isHexRange(text, 0, SPAN_ID_LENGTH);
  if (!sound || isZeroRange(text, 0, SPAN_ID_LENGTH)) {
    throw new UsageError("spanId() must give 16 hex digits that are not all zero");
  }
  return text;
};

/** The root of a trace; `traceId` continues a trace that is known only by its id. */
export const createTraceparent = (ids: TraceIds, traceId?: string | null): string => {
  const trace = parseTraceId(traceId ?? ids.traceId());
  return `${CURRENT_VERSION}-${trace}-${mintSpanId(ids)}-${SAMPLED}`;
};

/**
 * Keeps an existing traceparent, makes one when there is none. A trace id that is known beside it must be the same:
 * two ids for one message would split its lineage.
 */
export const ensureTraceparent = (
  traceparent: string | null | undefined,
  traceId: string | null | undefined,
  ids: TraceIds,
): string => {
  const text = traceparent?.trim();
  if (text === undefined || text === "") return createTraceparent(ids, traceId);
  const fault = traceparentFault(text);
  if (fault !== undefined) throw violation(`traceparent ${fault}`);
  const lower = text.toLowerCase();
  if (traceId !== null && traceId !== undefined && parseTraceId(traceId) !== lower.slice(3, 35)) {
    throw violation("trace_id mismatch: the known trace_id is not the one inside traceparent");
  }
  return lower;
};

/** The next span of the same trace. */
export const childTraceparent = (parent: string, ids: TraceIds): string =>
  `${CURRENT_VERSION}-${parseTraceparent(parent.trim()).traceId}-${mintSpanId(ids)}-${SAMPLED}`;
