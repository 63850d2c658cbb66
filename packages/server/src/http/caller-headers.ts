// The protocol's headers of a request that makes a call or a turn: they agree with it, or it is refused. Trace headers are not
// among them: they are those of the client's own trace.

import { headersFromHttp } from "@toolplane/protocol";
import { type CallerIdentity, checkCallerIdentity } from "@toolplane/protocol/agents";

/** The depth that they say, if they say one. */
export const checkCallerHeaders = (headers: Headers, request: CallerIdentity): number | undefined =>
  checkCallerIdentity(headersFromHttp([...headers].filter(([name]) => name.startsWith("cg-"))), request);
