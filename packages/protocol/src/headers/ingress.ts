// Turns a bus message into a context and a payload. After this the identity is known, from the headers and the subject alone
// (D-01, D-02). The checks are written by hand because they run for every message; the budget is 20 microseconds at the median.

import { buildContext, type CGContext } from "../context/context.ts";
import { violation } from "../errors/toolplane-error.ts";
import { PROTOCOL_VERSION, type Subject } from "../subjects/subject.ts";
import type { TraceIds } from "../trace/traceparent.ts";
import {
  headerLikeKeys,
  type Payload,
  payloadObject,
  refuseControlFields,
  stripControlFields,
} from "./control-fields.ts";
import { parseCountOrZero } from "./decimal.ts";
import { type HeaderMap, normalizeHeaders, type RawHeaders } from "./header-map.ts";
import { HEADERS } from "./header-names.ts";
import { normalizeTransport } from "./transport.ts";

export interface InboundMessage {
  /** What tryParseSubject gave; undefined is refused. */
  readonly subject: Subject | undefined;
  readonly headers: RawHeaders;
  /** The decoded JSON; anything but an object counts as `{}`. */
  readonly payload: unknown;
}

export interface Ingress {
  readonly context: CGContext;
  /** Without control fields. */
  readonly payload: Payload;
  /** Payload keys that look like headers in the wrong place; for the log. */
  readonly headerLikeKeys: readonly string[];
}

/**
 * What may stay in the payload, by category. `cmd`: nothing of the identity, or it is refused. `evt`: stripped, since
 * observers' payloads repeat ids for readability. `rpc`: bodies are those of the HTTP routes and stay as they are.
 */
const acceptPayload = (category: Subject["category"], raw: unknown): Payload => {
  const payload = payloadObject(raw);
  switch (category) {
    case "cmd":
      refuseControlFields(payload, "cmd ingress");
      return payload;
    case "evt":
      return stripControlFields(payload);
    case "rpc":
      return payload;
    case "str":
      throw violation("str ingress: a stream message has no headers and therefore no context");
  }
};

const mustEqual = (headers: HeaderMap, name: string, expected: string): void => {
  const said = headers[name];
  if (said !== undefined && said.trim() !== expected) throw violation(`${name} mismatch: it differs from the subject`);
};

/** The subject of an agent's own messages names the agent; a doorbell names a pool, and everything else a service. */
const agentIdOf = (subject: Subject, headers: HeaderMap): string => {
  if (subject.component === "agent" && subject.suffix !== "wakeup") {
    mustEqual(headers, HEADERS.agentId, subject.target);
    return subject.target;
  }
  const said = headers[HEADERS.agentId]?.trim();
  if (said === undefined || said === "") throw violation(`${HEADERS.agentId} is missing`);
  return said;
};

export const ingress = (message: InboundMessage, ids: TraceIds): Ingress => {
  const { subject } = message;
  if (subject === undefined) throw violation("subject does not parse");
  // A process speaks one version; messages of others go through a boundary adapter first.
  if (subject.version !== PROTOCOL_VERSION) throw violation(`subject is not of version ${PROTOCOL_VERSION}`);
  const payload = acceptPayload(subject.category, message.payload);

  const { headers, traceId, depth = 0 } = normalizeTransport(normalizeHeaders(message.headers), ids);
  headers[HEADERS.recursionDepth] = String(depth);

  if (subject.projectId === "" || subject.channelId === "") throw violation("subject names no project or no channel");
  mustEqual(headers, HEADERS.projectId, subject.projectId);
  mustEqual(headers, HEADERS.channelId, subject.channelId);

  const context = buildContext(
    {
      projectId: subject.projectId,
      channelId: subject.channelId,
      agentId: agentIdOf(subject, headers),
      agentTurnId: headers[HEADERS.turnId],
      turnEpoch: parseCountOrZero(headers[HEADERS.turnEpoch], HEADERS.turnEpoch),
      recursionDepth: depth,
      stepId: headers[HEADERS.stepId],
      toolCallId: headers[HEADERS.toolCallId],
      traceId,
      parentAgentId: headers[HEADERS.parentAgentId],
      parentAgentTurnId: headers[HEADERS.parentTurnId],
      parentStepId: headers[HEADERS.parentStepId],
    },
    headers,
  );
  return { context, payload, headerLikeKeys: headerLikeKeys(payload) };
};
