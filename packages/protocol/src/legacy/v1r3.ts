// The boundary to services that still speak v1r3, where identity travelled in the payload (D-27).
// Turns such a message into v1r4 form before the kernel sees it: same subject in the current version, identity in
// headers, a payload without it; and a command for such a service into the older form. The NATS gateway and the NATS
// publisher use this file; behind them no code depends on the version of a subject.
// A header that is already there is never overruled by the payload: the two must agree.

import { violation } from "../errors/toolplane-error.ts";
import { CONTROL_FIELDS, type Payload, payloadObject } from "../headers/control-fields.ts";
import { type HeaderMap, normalizeHeaders, type RawHeaders } from "../headers/header-map.ts";
import { HEADERS, type HeaderName } from "../headers/header-names.ts";
import {
  formatSubject,
  PAYLOAD_STYLE_VERSION,
  PROTOCOL_VERSION,
  parseSubject,
  type Subject,
  tryParseSubject,
} from "../subjects/subject.ts";
import { ensureTraceparent, type TraceIds } from "../trace/traceparent.ts";

export const LEGACY_VERSION = PAYLOAD_STYLE_VERSION;

export interface LegacyRequest {
  readonly subject: string;
  readonly headers: RawHeaders;
  /** The fields of the body that say whose call it is. */
  readonly identity: Payload;
  readonly payload: unknown;
}

interface AdaptedMessage {
  readonly subject: string;
  readonly headers: HeaderMap;
  readonly payload: Payload;
}

/** `trace_id` has no header of its own: it goes into traceparent. */
const HEADER_OF: Readonly<Record<string, HeaderName>> = {
  project_id: HEADERS.projectId,
  channel_id: HEADERS.channelId,
  channel: HEADERS.channelId,
  agent_id: HEADERS.agentId,
  agent_turn_id: HEADERS.turnId,
  turn_epoch: HEADERS.turnEpoch,
  step_id: HEADERS.stepId,
  tool_call_id: HEADERS.toolCallId,
  traceparent: HEADERS.traceparent,
  tracestate: HEADERS.tracestate,
  parent_agent_id: HEADERS.parentAgentId,
  parent_agent_turn_id: HEADERS.parentTurnId,
  parent_step_id: HEADERS.parentStepId,
  parent_traceparent: HEADERS.parentTraceparent,
  recursion_depth: HEADERS.recursionDepth,
};

const scalarText = (payload: Payload, field: string): string => {
  const value = Object.hasOwn(payload, field) ? payload[field] : undefined;
  if (value === null || value === undefined) return "";
  if (typeof value !== "string" && typeof value !== "number") throw violation(`payload field ${field} is not an id`);
  return String(value).trim();
};

/** Hex digits may differ in case; ids may not. */
const isSame = (header: HeaderName, said: string, value: string): boolean =>
  header === HEADERS.traceparent || header === HEADERS.parentTraceparent
    ? said.toLowerCase() === value.toLowerCase()
    : said === value;

/** The headers, with the identity that the fields say. */
const liftIdentity = (payload: Payload, headers: RawHeaders, ids: TraceIds): HeaderMap => {
  const lifted = normalizeHeaders(headers);
  delete lifted[HEADERS.version];
  for (const field of CONTROL_FIELDS) {
    const header = HEADER_OF[field];
    const value = header === undefined ? "" : scalarText(payload, field);
    if (header === undefined || value === "") continue;
    const said = (lifted[header] ?? "").trim();
    if (said !== "" && !isSame(header, said, value)) {
      throw violation(`${header} mismatch: the payload's ${field} differs`);
    }
    if (said === "") lifted[header] = value;
  }
  const traceId = scalarText(payload, "trace_id");
  // A message that names no trace gets none here: a made-up one would be another than its call's.
  if (traceId !== "" || (lifted[HEADERS.traceparent] ?? "") !== "")
    lifted[HEADERS.traceparent] = ensureTraceparent(lifted[HEADERS.traceparent], traceId === "" ? null : traceId, ids);
  // Once more, because what came from the payload has not been checked as header text yet.
  return normalizeHeaders(lifted);
};

/** What the older guide lists of a command's identity; the subject says project and channel. */
const COMMAND_FIELDS = ["agent_id", "agent_turn_id", "turn_epoch", "tool_call_id", "step_id"] as const;
/** Headers that say nothing about identity: the trace, and what is said about one message. */
const KEPT_HEADERS: readonly HeaderName[] = [
  HEADERS.traceparent,
  HEADERS.tracestate,
  HEADERS.timestamp,
  HEADERS.msgType,
  HEADERS.sender,
];

/** A command for a payload-style service: the identity from its headers stands in the payload, an epoch as a number. */
export const lowerCommand = ({
  headers,
  payload,
}: Omit<AdaptedMessage, "subject">): Omit<AdaptedMessage, "subject"> => {
  const identity = COMMAND_FIELDS.flatMap((field) => {
    const value = headers[HEADER_OF[field] ?? ""];
    if (value === undefined || value === "") return [];
    return [[field, field === "turn_epoch" ? Number(value) : value] as const];
  });
  const kept = KEPT_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const]));
  return {
    headers: { ...Object.fromEntries(kept), [HEADERS.version]: LEGACY_VERSION },
    payload: { ...payload, ...Object.fromEntries(identity) },
  };
};

export const isLegacySubject = (text: unknown): boolean => tryParseSubject(text)?.version === LEGACY_VERSION;

/** The same subject in the current version. */
export const currentSubject = (text: string): Subject => {
  const subject = parseSubject(text);
  if (subject.version !== LEGACY_VERSION) throw violation(`subject is not of version ${LEGACY_VERSION}`);
  return { ...subject, version: PROTOCOL_VERSION };
};

/**
 * A request of a service about a call (`rpc`). Its body is not only identity, so the caller says which fields are, and what it
 * makes of the body.
 */
export const adaptLegacyRequest = (message: LegacyRequest, ids: TraceIds): AdaptedMessage => {
  const subject = formatSubject(currentSubject(message.subject));
  const headers = liftIdentity(message.identity, message.headers, ids);
  return { subject, headers, payload: payloadObject(message.payload) };
};
