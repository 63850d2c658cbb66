// One request to the plane's gateway over NATS: its subject, its time limit and the meaning of the answer. The subject names
// project and actor; the NATS server lets a user publish only under its own.

import type { NatsLink, NatsReply } from "@toolplane/bus/nats";
import {
  DEFAULT_CHANNEL,
  type GatewayOperation,
  gatewaySubject,
  HEADERS,
  type HeaderMap,
  isRecord,
  ToolplaneError,
  tryParseJsonStrict,
} from "@toolplane/protocol";
import { errorFromAnswer } from "../gateway/answer-error.ts";
import { createPlaneClock, type PlaneClock } from "../gateway/plane-clock.ts";
import type { Answer } from "../gateway/wire.ts";
import type { AskGateway } from "../gateway/wire-gateway.ts";
import type { Clock } from "../ports/clock.ts";

export interface AskGatewayOptions {
  readonly link: Pick<NatsLink, "request" | "maxPayload">;
  readonly projectId: string;
  readonly actor: string;
  readonly clock: Clock;
}

/** When the process that took the request dies, no message says so. So the request is sent again, several times within a lease. */
const REQUEST_TIMEOUT_MS = 5_000;
/** More than any server lets through in one message. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** The header with the HTTP status of the answer, so that errors are the same over HTTP and NATS. */
const STATUS_HEADER = "CG-Status";

/** Subject, reply address and headers count too. */
const HEADER_ROOM_BYTES = 2_048;

/** Checked here, because the server would close the connection over a message that is too large. */
const checkSize = (payload: string, operation: GatewayOperation, max: number | undefined): void => {
  const bytes = Buffer.byteLength(payload) + HEADER_ROOM_BYTES;
  if (max === undefined || bytes <= max) return;
  throw new ToolplaneError(
    "payload_too_large",
    `${operation} has ${bytes} bytes and this NATS server takes ${max}: put the data elsewhere and return a pointer, raise max_payload, or serve over HTTP`,
    { detail: { bytes, limit: max } },
  );
};

const clockAhead = (headers: HeaderMap, now: number, planeClock: PlaneClock): number => {
  const text = headers[HEADERS.timestamp];
  const theirs = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(theirs) ? planeClock.ahead(theirs, now) : 0;
};

const readReply = (reply: NatsReply, operation: GatewayOperation, aheadMs: number): Answer => {
  const body = reply.payload === "" ? undefined : tryParseJsonStrict(reply.payload, { maxBytes: MAX_ANSWER_BYTES });
  const said = Number(reply.headers[STATUS_HEADER]);
  const failed = isRecord(body) && isRecord(body.error);
  const status = Number.isInteger(said) && said >= 100 ? said : failed ? 500 : 200;
  if (failed || status >= 300) throw errorFromAnswer({ status, body, request: operation });
  if (reply.payload !== "" && body === undefined) {
    throw new ToolplaneError("upstream_unavailable", `${operation} was answered with something that is not JSON`);
  }
  return { body, clockAheadMs: aheadMs };
};

export const createAskGateway = ({ link, projectId, actor, clock }: AskGatewayOptions): AskGateway => {
  const planeClock = createPlaneClock();
  return async (question) => {
    const { operation, toolCallId, body, text, headers, channelId = DEFAULT_CHANNEL, timeoutMs, signal } = question;
    const payload = text ?? JSON.stringify(body);
    checkSize(payload, operation, link.maxPayload?.());
    const reply = await link.request(
      {
        subject: gatewaySubject({ projectId, channelId }, actor, operation),
        headers: {
          [HEADERS.projectId]: projectId,
          ...(toolCallId === undefined ? {} : { [HEADERS.toolCallId]: toolCallId }),
          ...headers,
        },
        payload,
      },
      { timeoutMs: timeoutMs ?? REQUEST_TIMEOUT_MS, signal },
    );
    return readReply(reply, operation, clockAhead(reply.headers, clock.now(), planeClock));
  };
};
