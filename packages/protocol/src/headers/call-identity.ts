// Whether the headers of a request agree with the call they are about: one decision for reports, leases and every other request
// about a call, over HTTP and NATS (2.3, 2.7, 6.2, 6.5).
//   - A header that is given must equal the call's. Numbers must be numbers, also where the call's is 0.
//   - A header that is left out, or blank, is not checked: the call's row has its own identity. A blank depth is refused, as at
//     ingress.
//   - The channel is the one of the command's subject, which is what a service reads (6.4).
//   - The trace is checked only for requests that say something about it: see checkCallTrace.

import { type ErrorDetail, type ToolplaneError, violation } from "../errors/toolplane-error.ts";
import { parseTraceparent } from "../trace/traceparent.ts";
import { parseCount } from "./decimal.ts";
import type { HeaderMap } from "./header-map.ts";
import { HEADERS } from "./header-names.ts";

/** What the call's row says. */
export interface CallIdentity {
  readonly projectId: string;
  /** Of the command; its fourth token is the channel. */
  readonly subject: string;
  readonly agentId: string;
  readonly agentTurnId: string;
  readonly turnEpoch: number;
  readonly stepId: string;
  readonly toolCallId: string;
  readonly recursionDepth: number;
  readonly traceId: string;
  /** Of the command, as sent: who the call descends from stands only there. */
  readonly headers: HeaderMap;
}

/** Where the call comes from. A call that descends from nothing has none of them. */
const PARENTS = [HEADERS.parentAgentId, HEADERS.parentTurnId, HEADERS.parentStepId, HEADERS.parentTraceparent] as const;

const CHANNEL_TOKEN = 3;
const ADVICE = "send the command's headers back as they came, or leave this one out";

/** The header, and the clause that it breaks, for the log of the service that sent it. */
const about = (header: string): ErrorDetail => ({
  header,
  clause: header === HEADERS.recursionDepth ? "utp 2.7" : "utp 2.3",
});

const differs = (name: string): ToolplaneError => violation(`${name} is not the call's: ${ADVICE}`, about(name));

const checkText = (headers: HeaderMap, name: string, expected: string): void => {
  const said = headers[name]?.trim();
  if (said !== undefined && said !== "" && said !== expected) throw differs(name);
};

const checkCount = (headers: HeaderMap, name: string, expected: number): void => {
  const said = headers[name];
  if (said !== undefined && parseCount(said, name, about(name)) !== expected) throw differs(name);
};

const isBlank = (headers: HeaderMap, name: string): boolean => (headers[name] ?? "").trim() === "";

/**
 * Checks the headers of every request of a service, also of one that concerns no call or many: they must name the project and channel of the
 * request, and their numbers must be numbers.
 */
export const checkServicePlace = (
  headers: HeaderMap,
  place: { readonly projectId: string; readonly channelId?: string | undefined },
): void => {
  for (const [name, expected] of [
    [HEADERS.projectId, place.projectId],
    [HEADERS.channelId, place.channelId],
  ] as const)
    if (expected !== undefined && !isBlank(headers, name) && headers[name]?.trim() !== expected)
      throw violation(`${name} names another than the request: ${expected}`, about(name));
  const epoch = headers[HEADERS.turnEpoch] ?? "";
  if (!isBlank(headers, HEADERS.turnEpoch)) parseCount(epoch, HEADERS.turnEpoch, about(HEADERS.turnEpoch));
  const depth = headers[HEADERS.recursionDepth];
  if (depth !== undefined) parseCount(depth, HEADERS.recursionDepth, about(HEADERS.recursionDepth));
};

/** Throws `protocol_violation` at the first header that contradicts the call. */
export const checkCallIdentity = (headers: HeaderMap, call: CallIdentity): void => {
  checkText(headers, HEADERS.projectId, call.projectId);
  checkText(headers, HEADERS.channelId, call.subject.split(".")[CHANNEL_TOKEN] ?? "");
  checkText(headers, HEADERS.agentId, call.agentId);
  checkText(headers, HEADERS.turnId, call.agentTurnId);
  checkText(headers, HEADERS.stepId, call.stepId);
  checkText(headers, HEADERS.toolCallId, call.toolCallId);
  if (!isBlank(headers, HEADERS.turnEpoch)) checkCount(headers, HEADERS.turnEpoch, call.turnEpoch);
  checkCount(headers, HEADERS.recursionDepth, call.recursionDepth);
  for (const name of PARENTS) checkText(headers, name, call.headers[name] ?? "");
};

/**
 * For a lease, a result and a report: their span must belong to the trace of the command. Other requests over HTTP carry the
 * trace of the service's own HTTP client, which says nothing about the call.
 */
export const checkCallTrace = (traceparent: string | undefined, call: Pick<CallIdentity, "traceId">): void => {
  const text = traceparent?.trim() ?? "";
  const detail = { header: HEADERS.traceparent, clause: "utp 2.5" };
  if (text !== "" && parseTraceparent(text, HEADERS.traceparent, detail).traceId !== call.traceId)
    throw violation(
      `${HEADERS.traceparent} is of another trace than the call: use the command's with a new span id`,
      detail,
    );
};
