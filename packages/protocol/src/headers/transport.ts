// What every inbound header map goes through before it becomes a context: plain text, a valid trace, a valid depth.

import { ensureTraceparent, parseTraceparent, type TraceIds } from "../trace/traceparent.ts";
import { parseCount } from "./decimal.ts";
import { HEADERS } from "./header-names.ts";

export interface Transport {
  readonly headers: Record<string, string>;
  readonly traceId: string;
  /** The depth the headers claim, or undefined when they claim none. */
  readonly depth: number | undefined;
}

const dropBlank = (headers: Record<string, string>, name: string): void => {
  if (headers[name] !== undefined && headers[name].trim() === "") delete headers[name];
};

/** Changes and returns the map it is given, which must be the caller's own. */
export const normalizeTransport = (
  headers: Record<string, string>,
  ids: TraceIds,
  traceId: string | null = null,
): Transport => {
  const traceparent = ensureTraceparent(headers[HEADERS.traceparent], traceId, ids);
  headers[HEADERS.traceparent] = traceparent;
  dropBlank(headers, HEADERS.tracestate);
  dropBlank(headers, HEADERS.parentTraceparent);
  const parent = headers[HEADERS.parentTraceparent];
  if (parent !== undefined) {
    parseTraceparent(parent.trim(), HEADERS.parentTraceparent);
    headers[HEADERS.parentTraceparent] = parent.trim().toLowerCase();
  }
  const claimed = headers[HEADERS.recursionDepth];
  const depth = claimed === undefined ? undefined : parseCount(claimed, HEADERS.recursionDepth);
  return { headers, traceId: traceparent.slice(3, 35), depth };
};
