// The protocol's headers of a request that makes a call or a turn must agree with it, or the request is refused.

import { HEADERS, type HeaderMap, headersFromHttp } from "@toolplane/protocol";
import { type CallerIdentity, checkCallerIdentity } from "@toolplane/protocol/agents";

/** The tracestate belongs to the trace, and says nothing about the caller. */
const NAMES = Object.values(HEADERS).filter((name) => name !== HEADERS.tracestate);

/** What the request says about its caller. Asked for name by name: to list its headers, the server's adapter copies and sorts them all. */
export const callerHeaders = (headers: Headers): HeaderMap =>
  headersFromHttp(NAMES.map((name) => [name, headers.get(name)] as const));

/** Returns the depth in the headers, if there is one. */
export const checkCallerHeaders = (headers: Headers, request: CallerIdentity): number | undefined =>
  checkCallerIdentity(callerHeaders(headers), request);
