// What a publisher adds to a message last: a trace if it has none, and the four transport stamps, each only if absent.

import { PROTOCOL_VERSION } from "../subjects/subject.ts";
import { ensureTraceparent, type TraceIds } from "../trace/traceparent.ts";
import { type HeaderMap, isHeaderText } from "./header-map.ts";
import { HEADERS } from "./header-names.ts";

/** What the sender is called when nothing was configured. */
export const DEFAULT_SENDER = "cg-nats-client";

export interface Stamps {
  /** Milliseconds since the epoch. */
  readonly timestampMs: number;
  readonly msgType: string;
  readonly sender?: string;
  readonly version?: string;
}

/** A payload may name its own message type; what could not be written as a header does not count. */
export const messageTypeOf = (payload: unknown, fallback: string): string => {
  if (typeof payload !== "object" || payload === null || !Object.hasOwn(payload, "__msg_type__")) return fallback;
  const named = (payload as { readonly __msg_type__?: unknown }).__msg_type__;
  return typeof named === "string" && named.trim() !== "" && isHeaderText(named) ? named : fallback;
};

export const stampHeaders = (headers: HeaderMap, stamps: Stamps): HeaderMap => ({
  [HEADERS.timestamp]: String(Math.trunc(stamps.timestampMs)),
  [HEADERS.version]: stamps.version ?? PROTOCOL_VERSION,
  [HEADERS.msgType]: stamps.msgType,
  [HEADERS.sender]: stamps.sender ?? DEFAULT_SENDER,
  ...headers,
});

/** Every cmd and evt has a trace; an explicit one is never replaced. */
export const ensureTraceHeader = (headers: HeaderMap, ids: TraceIds): HeaderMap => ({
  ...headers,
  [HEADERS.traceparent]: ensureTraceparent(headers[HEADERS.traceparent], null, ids),
});
