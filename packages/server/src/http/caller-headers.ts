// The protocol's headers of a request that makes a call or a turn must agree with it, or the request is refused.

import { headersFromHttp } from "@toolplane/protocol";
import { type CallerIdentity, checkCallerIdentity } from "@toolplane/protocol/agents";

const isProtocols = ([name]: readonly [string, string]): boolean => name.startsWith("cg-") || name === "traceparent";

/** Returns the depth in the headers, if there is one. */
export const checkCallerHeaders = (headers: Headers, request: CallerIdentity): number | undefined =>
  checkCallerIdentity(headersFromHttp([...headers].filter(isProtocols)), request);
