// Changes of a context's headers and trace.
// Once a context exists no header changes its depth: the reference let an inherited CG-Recursion-Depth beat a computed
// one, so its depth never grew (W-01, I9). A header's depth is still checked, then replaced. Only ingress and replay,
// which have no context yet, read it.

import { normalizeHeaders, type RawHeaders } from "../headers/header-map.ts";
import { HEADERS } from "../headers/header-names.ts";
import { normalizeTransport } from "../headers/transport.ts";
import { childTraceparent, ensureTraceparent, type TraceIds } from "../trace/traceparent.ts";
import { buildContext, type CGContext } from "./context.ts";

export interface NormalizedTransport {
  /** When known, it must be the trace inside the headers' traceparent. */
  readonly traceId?: string | null | undefined;
  /** The computed depth; the context's own when left out. */
  readonly depth?: number | undefined;
}

/** New headers with a valid trace and the depth written in. */
export const withNormalizedTransport = (
  context: CGContext,
  headers: RawHeaders,
  ids: TraceIds,
  options: NormalizedTransport = {},
): CGContext => {
  const transport = normalizeTransport(normalizeHeaders(headers), ids, options.traceId ?? null);
  const recursionDepth = options.depth ?? context.recursionDepth;
  const normal = { ...transport.headers, [HEADERS.recursionDepth]: String(recursionDepth) };
  return buildContext({ ...context, recursionDepth, traceId: transport.traceId }, normal);
};

export interface TraceTransport extends NormalizedTransport {
  /** Text sets the header, empty text removes it, undefined keeps it. */
  readonly traceparent?: string | null | undefined;
  readonly tracestate?: string | null | undefined;
  readonly parentTraceparent?: string | null | undefined;
  /** The headers to start from; the context's own when left out. */
  readonly baseHeaders?: RawHeaders;
}

export const withTraceTransport = (context: CGContext, patch: TraceTransport, ids: TraceIds): CGContext => {
  const headers = normalizeHeaders(patch.baseHeaders ?? context.headers);
  const changes = [
    [HEADERS.traceparent, patch.traceparent],
    [HEADERS.tracestate, patch.tracestate],
    [HEADERS.parentTraceparent, patch.parentTraceparent],
  ] as const;
  for (const [name, value] of changes) {
    if (value === null || value === undefined) continue;
    if (value.trim() === "") delete headers[name];
    else headers[name] = value;
  }
  return withNormalizedTransport(context, headers, ids, patch);
};

/** The traceparent the context's next message carries: its own, or the root of its trace. */
export const traceparentOf = (context: CGContext, ids: TraceIds): string =>
  ensureTraceparent(context.headers[HEADERS.traceparent], context.traceId, ids);

/** The next span of the same trace; made where work changes hands (enqueue, report). */
export const withChildSpan = (context: CGContext, ids: TraceIds): CGContext => {
  const traceparent = childTraceparent(traceparentOf(context, ids), ids);
  return withTraceTransport(context, { traceparent }, ids);
};
