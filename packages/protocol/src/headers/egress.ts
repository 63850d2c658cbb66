// A context becomes the headers of the next message, or of a stored row.
// The fields decide; inherited headers only fill in what has no field. Headers about one single message (its stamps, its
// transport's own headers) are not repeated: an inherited Nats-Msg-Id would make the server drop the new message as a duplicate.

import type { CGContext } from "../context/context.ts";
import { ensureTraceparent, type TraceIds } from "../trace/traceparent.ts";
import type { HeaderMap } from "./header-map.ts";
import { HEADERS, RESERVED_HEADERS, STAMP_HEADERS } from "./header-names.ts";

/** `topology`: commands and stored rows, with depth, step, call and parents. `doorbell`: wakeups and events, without. */
export type EgressMode = "topology" | "doorbell";

const MESSAGE_ONLY: ReadonlySet<string> = new Set([...STAMP_HEADERS, RESERVED_HEADERS[0]]);
const TRANSPORT_PREFIX = "nats-";

const isInherited = (name: string): boolean =>
  !MESSAGE_ONLY.has(name) && name.slice(0, TRANSPORT_PREFIX.length).toLowerCase() !== TRANSPORT_PREFIX;

const put = (headers: Record<string, string>, name: string, value: string | null): void => {
  if (value === null || value === "") delete headers[name];
  else headers[name] = value;
};

export const egress = (context: CGContext, ids: TraceIds, mode: EgressMode = "doorbell"): HeaderMap => {
  const headers: Record<string, string> = {};
  for (const name of Object.keys(context.headers)) {
    const value = context.headers[name];
    if (value !== undefined && isInherited(name)) headers[name] = value;
  }
  headers[HEADERS.projectId] = context.projectId;
  headers[HEADERS.channelId] = context.channelId;
  headers[HEADERS.agentId] = context.agentId;
  put(headers, HEADERS.turnId, context.agentTurnId);
  headers[HEADERS.turnEpoch] = String(context.turnEpoch);

  const topology = mode === "topology";
  put(headers, HEADERS.recursionDepth, topology ? String(context.recursionDepth) : null);
  put(headers, HEADERS.stepId, topology ? context.stepId : null);
  put(headers, HEADERS.toolCallId, topology ? context.toolCallId : null);
  put(headers, HEADERS.parentAgentId, topology ? context.parentAgentId : null);
  put(headers, HEADERS.parentTurnId, topology ? context.parentAgentTurnId : null);
  put(headers, HEADERS.parentStepId, topology ? context.parentStepId : null);

  put(headers, HEADERS.tracestate, (headers[HEADERS.tracestate] ?? "").trim());
  headers[HEADERS.traceparent] = ensureTraceparent(headers[HEADERS.traceparent], context.traceId, ids);
  return headers;
};
