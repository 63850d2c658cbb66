// The protocol's headers of a request. Those of a request that makes a call or a turn must agree with it, or the request is refused.

import { HEADERS, type HeaderMap, headersFromHttp } from "@toolplane/protocol";
import { type CallerIdentity, checkCallerIdentity } from "@toolplane/protocol/agents";

const HEADER_NAMES = Object.values(HEADERS);
/** The tracestate belongs to the trace, and says nothing about the caller. */
const OF_CALLER = HEADER_NAMES.filter((name) => name !== HEADERS.tracestate);

/** Asked for name by name: to list the headers of a request, the server's adapter copies and sorts them all. */
const readHeaders = (headers: Headers, names: readonly string[]): HeaderMap =>
  headersFromHttp(names.map((name) => [name, headers.get(name)] as const));

/** The headers that say who makes a call or a turn, and from where. */
export const callerHeaders = (headers: Headers): HeaderMap => readHeaders(headers, OF_CALLER);

/** All headers of the protocol. */
export const protocolHeaders = (headers: Headers): HeaderMap => readHeaders(headers, HEADER_NAMES);

/** Returns the depth in the headers, if there is one. */
export const checkCallerHeaders = (headers: Headers, request: CallerIdentity): number | undefined =>
  checkCallerIdentity(callerHeaders(headers), request);
