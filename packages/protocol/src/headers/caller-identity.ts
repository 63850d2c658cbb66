// Whether the headers of a request that makes a call or a turn agree with it. There is no call yet to compare with
// (call-identity.ts), so they are compared with the route, the body and the token (2.3, 2.7).
//   - A header that is given must equal what the request says. Where the request says nothing, it must be a value of its kind.
//   - A header that is left out, or blank, is not checked. A blank depth is refused, as at ingress.

import { violation } from "../errors/toolplane-error.ts";
import { isToken } from "../subjects/token.ts";
import { parseCount, parseCountOrZero } from "./decimal.ts";
import type { HeaderMap } from "./header-map.ts";
import { HEADERS } from "./header-names.ts";

/** What the request says besides its headers; undefined: nothing. */
export interface CallerIdentity {
  readonly projectId: string;
  readonly channelId?: string | undefined;
  /** In whose name it is made. */
  readonly agentId?: string | undefined;
}

const saidIn = (headers: HeaderMap, name: string): string | undefined => {
  const said = headers[name]?.trim();
  return said === "" ? undefined : said;
};

const checkText = (headers: HeaderMap, name: string, expected: string | undefined): void => {
  const said = saidIn(headers, name);
  if (said !== undefined && expected !== undefined && said !== expected)
    throw violation(`${name} is not the request's (${expected}): make them the same, or leave the header out`, {
      header: name,
    });
};

/** Throws `protocol_violation` at the first header that contradicts the request or is no such value. */
export const checkCallerIdentity = (headers: HeaderMap, request: CallerIdentity): void => {
  checkText(headers, HEADERS.projectId, request.projectId);
  checkText(headers, HEADERS.channelId, request.channelId);
  const channel = saidIn(headers, HEADERS.channelId);
  if (channel !== undefined && !isToken(channel))
    throw violation(`${HEADERS.channelId} is no channel: use letters, digits, _ and -`, { header: HEADERS.channelId });
  checkText(headers, HEADERS.agentId, request.agentId);
  parseCountOrZero(headers[HEADERS.turnEpoch], HEADERS.turnEpoch);
  const depth = headers[HEADERS.recursionDepth];
  if (depth !== undefined) parseCount(depth, HEADERS.recursionDepth);
};
