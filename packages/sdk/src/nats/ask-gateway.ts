// One question to the plane's gateway over NATS: who asks, for which call, how long, and what the answer means. The subject
// names project and actor; the NATS server lets nobody ask under another's.

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
import type { Answer } from "../gateway/wire.ts";
import type { AskGateway } from "../gateway/wire-gateway.ts";
import type { Clock } from "../ports/clock.ts";

export interface AskGatewayOptions {
  readonly link: Pick<NatsLink, "request" | "maxPayload">;
  readonly projectId: string;
  readonly actor: string;
  readonly clock: Clock;
}

/** Nobody says when the one who had the question dies: it is asked again, several times within a lease. */
const REQUEST_TIMEOUT_MS = 5_000;
/** More than any server lets through in one message. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** The HTTP status of the answer, so that both ways say the same. */
const STATUS_HEADER = "CG-Status";

/** Subject, reply address and headers count too. */
const HEADER_ROOM_BYTES = 2_048;

/** Said here: the server would end the connection over it, and trying again would not help. */
const checkSize = (payload: string, operation: GatewayOperation, max: number | undefined): void => {
  const bytes = Buffer.byteLength(payload) + HEADER_ROOM_BYTES;
  if (max === undefined || bytes <= max) return;
  throw new ToolplaneError(
    "payload_too_large",
    `${operation} has ${bytes} bytes and this NATS server takes ${max}: put the data elsewhere and return a pointer, raise max_payload, or serve over HTTP`,
    { detail: { bytes, limit: max } },
  );
};

/** The answer was written somewhere between question and arrival. */
const clockAhead = (headers: HeaderMap, askedAt: number, now: number): number => {
  const text = headers[HEADERS.timestamp];
  const theirs = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(theirs) ? Math.round(theirs - (askedAt + now) / 2) : 0;
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
  return async ({ operation, toolCallId, body, text, headers, channelId = DEFAULT_CHANNEL, timeoutMs, signal }) => {
    const payload = text ?? JSON.stringify(body);
    checkSize(payload, operation, link.maxPayload?.());
    const askedAt = clock.now();
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
    return readReply(reply, operation, clockAhead(reply.headers, askedAt, clock.now()));
  };
};
