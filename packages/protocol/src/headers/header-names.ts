// The header names of the protocol, as they are spelled on the bus (exact case there; any case over HTTP).

export const HEADERS = {
  projectId: "CG-Project-Id",
  channelId: "CG-Channel-Id",
  agentId: "CG-Agent-Id",
  turnId: "CG-Turn-Id",
  turnEpoch: "CG-Turn-Epoch",
  stepId: "CG-Step-Id",
  toolCallId: "CG-Tool-Call-Id",
  parentAgentId: "CG-Parent-Agent-Id",
  parentTurnId: "CG-Parent-Turn-Id",
  parentStepId: "CG-Parent-Step-Id",
  recursionDepth: "CG-Recursion-Depth",
  parentTraceparent: "CG-Parent-Traceparent",
  traceparent: "traceparent",
  tracestate: "tracestate",
  timestamp: "CG-Timestamp",
  version: "CG-Version",
  msgType: "CG-Msg-Type",
  sender: "CG-Sender",
} as const;

export type HeaderName = (typeof HEADERS)[keyof typeof HEADERS];

export const HEADER_NAMES: readonly HeaderName[] = Object.values(HEADERS);

/** The publisher sets these about one message; the next message never inherits them. */
export const STAMP_HEADERS = [HEADERS.timestamp, HEADERS.version, HEADERS.msgType, HEADERS.sender] as const;

/** Reserved by the protocol and not read by any part. */
export const RESERVED_HEADERS = ["CG-L0-Ack-Reply", "CG-User-ID", "CG-Context-ID"] as const;

const CANONICAL: ReadonlyMap<string, HeaderName> = new Map(HEADER_NAMES.map((name) => [name.toLowerCase(), name]));
const EXACT: ReadonlySet<string> = new Set(HEADER_NAMES);

/** A name the protocol gives a meaning to, spelled as on the bus. */
export const isProtocolHeader = (name: string): boolean => EXACT.has(name);

/** Once carried the trace id beside traceparent; it is ignored now, in any spelling. */
const REMOVED = "cg-trace-id";

/** The protocol's spelling of a name written in any case. */
export const canonicalHeaderName = (name: string): HeaderName | undefined => CANONICAL.get(name.toLowerCase());

/**
 * A name that must not enter a context: the removed one, or a protocol name in another case. The second is not a header
 * of ours on the bus, but would become one at the next HTTP hop, where case does not count.
 */
export const isForeignSpelling = (name: string): boolean => {
  if (EXACT.has(name)) return false;
  const lower = name.toLowerCase();
  return lower === REMOVED || CANONICAL.has(lower);
};
