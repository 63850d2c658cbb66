// The protocol's headers of a request that makes a call or a turn must agree with it, or the request is refused. Trace headers
// are not checked: they belong to the client's own trace.

import { headersFromHttp } from "@toolplane/protocol";
import { type CallerIdentity, checkCallerIdentity } from "@toolplane/protocol/agents";

/** Returns the depth in the headers, if there is one. */
export const checkCallerHeaders = (headers: Headers, request: CallerIdentity): number | undefined =>
  checkCallerIdentity(headersFromHttp([...headers].filter(([name]) => name.startsWith("cg-"))), request);
