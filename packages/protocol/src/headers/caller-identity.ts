// Whether the headers of a request that makes something new (a call, a turn, an action) agree with it. There is no call yet to
// hold them against (call-identity.ts), so they are held against the route, the body, the token and what the plane decides.
//   - A header that is given equals what the request says. A header that is left out, or blank, says nothing. A blank depth is
//     refused, as it is at ingress (2.3).
//   - A request begins at epoch 0, and the plane mints its turn, step and call and knows its parents: a header cannot name
//     others (6.3, 8.10). A person's action does name a turn: the one that the person saw (1.4 F4). It is not judged here.
//   - A traceparent must be one (2.5), also where the request does not join its trace.
//   - The depth must be a number here; the engine alone knows which (2.7, I9), so it is handed on to be compared there.

import { type ErrorDetail, type ToolplaneError, violation } from "../errors/toolplane-error.ts";
import { isToken } from "../subjects/token.ts";
import { parseTraceparent } from "../trace/traceparent.ts";
import { parseCount } from "./decimal.ts";
import type { HeaderMap } from "./header-map.ts";
import { HEADERS } from "./header-names.ts";

/** What the request says besides its headers; undefined: nothing. */
export interface CallerIdentity {
  readonly projectId: string;
  readonly channelId?: string | undefined;
  /** In whose name it is made. */
  readonly agentId?: string | undefined;
  /** The turn and the epoch are those a person saw, and do not name the new turn. */
  readonly isAction?: boolean | undefined;
}

const PARENTS = [HEADERS.parentAgentId, HEADERS.parentTurnId, HEADERS.parentStepId] as const;
const MINTED_IDS = [HEADERS.stepId, HEADERS.toolCallId] as const;

const about = (header: string, clause: string): ErrorDetail => ({ header, clause: `utp ${clause}` });

const saidIn = (headers: HeaderMap, name: string): string | undefined => {
  const said = headers[name]?.trim();
  return said === "" ? undefined : said;
};

const checkText = (headers: HeaderMap, name: string, expected: string | undefined): void => {
  const said = saidIn(headers, name);
  if (said !== undefined && expected !== undefined && said !== expected)
    throw violation(
      `${name} is not the request's (${expected}): make them the same, or leave the header out`,
      about(name, "2.3"),
    );
};

const refuseSaid = (headers: HeaderMap, names: readonly string[], who: string, clause: string): void => {
  for (const name of names)
    if (saidIn(headers, name) !== undefined)
      throw violation(`${name}: ${who}; leave the header out`, about(name, clause));
};

const checkEpoch = (headers: HeaderMap, isAction: boolean): void => {
  const said = saidIn(headers, HEADERS.turnEpoch);
  if (said === undefined) return;
  const epoch = parseCount(said, HEADERS.turnEpoch, about(HEADERS.turnEpoch, "2.3"));
  if (!isAction && epoch !== 0)
    throw violation(
      `${HEADERS.turnEpoch} is ${epoch}, and what is new begins at 0: leave the header out`,
      about(HEADERS.turnEpoch, "8.10"),
    );
};

const checkTrace = (headers: HeaderMap): void => {
  const said = saidIn(headers, HEADERS.traceparent);
  if (said !== undefined) parseTraceparent(said, HEADERS.traceparent, about(HEADERS.traceparent, "2.5"));
};

/** Throws `protocol_violation` at the first header that contradicts the request. The depth that is said, if one is. */
export const checkCallerIdentity = (headers: HeaderMap, request: CallerIdentity): number | undefined => {
  const { isAction = false } = request;
  checkText(headers, HEADERS.projectId, request.projectId);
  checkText(headers, HEADERS.channelId, request.channelId);
  const channel = saidIn(headers, HEADERS.channelId);
  if (channel !== undefined && !isToken(channel))
    throw violation(
      `${HEADERS.channelId} is not a channel: use letters, digits, _ and -`,
      about(HEADERS.channelId, "2.3"),
    );
  checkText(headers, HEADERS.agentId, request.agentId);
  if (!isAction) refuseSaid(headers, [HEADERS.turnId], "the plane mints the id of the turn", "6.3");
  refuseSaid(headers, MINTED_IDS, "the plane mints the id", "8.10");
  refuseSaid(headers, PARENTS, "the plane knows the parents", "6.3");
  checkEpoch(headers, isAction);
  checkTrace(headers);
  const depth = headers[HEADERS.recursionDepth];
  return depth === undefined
    ? undefined
    : parseCount(depth, HEADERS.recursionDepth, about(HEADERS.recursionDepth, "2.7"));
};

/** The refusal of a request that says another depth than the engine counts (I9). */
export const saidDepthError = (said: number | undefined, depth: number): ToolplaneError | undefined =>
  said === undefined || said === depth
    ? undefined
    : violation(
        `${HEADERS.recursionDepth} is ${said}, and the plane counts ${depth}: leave the header out`,
        about(HEADERS.recursionDepth, "2.7"),
      );
