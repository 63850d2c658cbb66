// A request from NATS, read and checked before the engine is asked.
//   - The subject's project and actor say who asks: the NATS server lets a user publish only under its own.
//   - Headers and body must agree with the subject, or the request is refused; they never say who asks.
//   - The answer goes only to an inbox of the asking user. The sender chooses the reply subject, and we publish with our own
//     rights: unchecked, a service could make the plane ring a doorbell or delete a stream.

import type { InboundRequest } from "@toolplane/bus/nats";
import {
  DEFAULT_CHANNEL,
  exceedsBytes,
  GATEWAY_OPERATIONS,
  type GatewayOperation,
  HEADERS,
  type HeaderMap,
  mayBeUnstorable,
  normalizeHeaders,
  PROTOCOL_VERSION,
  parseJsonStrict,
  parseSubject,
  parseWith,
  refuseUnstorable,
  type Subject,
  ToolplaneError,
  violation,
} from "@toolplane/protocol";
import { checkServicePlace, refuseChangedIntegers } from "@toolplane/protocol/agents";
import { parseBodyParts } from "../http/body-parts.ts";
import { SERVICE_OPERATIONS } from "./service-operations.ts";
import type { ServiceOperation, ServiceRequest } from "./service-request.ts";

/** The lease a card is written, or a report made, under; the other operations have it in their body. */
const LEASE_HEADER = "CG-Lease";

export interface GatewayQuestion {
  readonly operation: GatewayOperation;
  readonly request: Omit<ServiceRequest<unknown>, "engine">;
}

/** What a request needs besides its subject. */
const REQUIRED: Readonly<Record<GatewayOperation, readonly string[]>> = {
  attach: [],
  lease: [HEADERS.toolCallId, HEADERS.turnId],
  get_card: [HEADERS.toolCallId],
  heartbeat: [HEADERS.toolCallId],
  release: [HEADERS.toolCallId],
  settle: [HEADERS.toolCallId],
  exchange: [],
  put_card: [HEADERS.toolCallId],
  report: [HEADERS.toolCallId, HEADERS.turnId],
  parts: [HEADERS.toolCallId],
  get_tool: [],
  register: [],
};

/** The operation a subject ends with, if it is one. */
export const tryOperation = (subject: string): GatewayOperation | undefined =>
  GATEWAY_OPERATIONS.find((operation) => subject.endsWith(`.${operation}`));

const operationOf = ({ suffix }: Subject): GatewayOperation => {
  const operation = GATEWAY_OPERATIONS.find((known) => known === suffix);
  if (operation === undefined)
    throw new ToolplaneError("not_found", `there is no operation ${suffix}; use ${GATEWAY_OPERATIONS.join(", ")}`);
  return operation;
};

/** The name of the plane's own inbox in deploy/nats; a service with this name gets no answer there. */
const OWN_INBOX = "engine";

/**
 * The default inbox, or one named after the actor and its project, as users with permissions of their own have it. A user
 * with an account of its own is answered at `_R_.`: the NATS server made that address and carries the answer into the
 * account, where the address that the user chose means nothing to the plane.
 */
export const mayAnswer = (reply: string, subject: string): boolean => {
  if (reply.startsWith("_INBOX.") || reply.startsWith("_R_.")) return true;
  const [, , project = "", , , , actor = ""] = subject.split(".");
  if (actor === "" || actor === OWN_INBOX) return false;
  return reply.startsWith(`_INBOX_${actor}.`) || reply.startsWith(`_INBOX_${actor}__${project}.`);
};

const readJsonOf = (text: string, { parts, settle }: Pick<ServiceOperation, "parts" | "settle">): unknown =>
  parts === undefined
    ? parseJsonStrict(text, { namesOnce: true, settle, refuse: refuseChangedIntegers })
    : parseBodyParts(text, parts);

const bodyOf = (operation: GatewayOperation, text: string): unknown => {
  const asked: ServiceOperation = SERVICE_OPERATIONS[operation];
  const { body, maxBytes, anyText } = asked;
  if (exceedsBytes(text, maxBytes))
    throw new ToolplaneError("payload_too_large", `the body is larger than ${maxBytes} bytes`, {
      detail: { max_bytes: maxBytes },
    });
  const given = text === "" ? {} : readJsonOf(text, asked);
  if (anyText !== true && mayBeUnstorable(text)) refuseUnstorable(given, "the body");
  return parseWith(body, given, "the body");
};

const checkCard = (body: unknown, toolCallId: string): void => {
  if ((body as { readonly tool_call_id?: unknown }).tool_call_id !== toolCallId)
    throw violation(`the card's tool_call_id is not the one in ${HEADERS.toolCallId}`);
};

/** A request is asked in the call's channel, like the header; `public` is also accepted, for services that know no channel. */
const saidChannel = (headers: HeaderMap, channelId: string): HeaderMap =>
  channelId === DEFAULT_CHANNEL ? headers : { ...headers, [HEADERS.channelId]: channelId };

/** Throws the error that becomes the answer. */
export const readQuestion = (inbound: InboundRequest): GatewayQuestion => {
  const subject = parseSubject(inbound.subject);
  if (subject.category !== "rpc" || subject.version !== PROTOCOL_VERSION)
    throw violation(`the subject is not a gateway subject of version ${PROTOCOL_VERSION}`);
  if (inbound.fault !== undefined)
    throw new ToolplaneError("bad_request", `the request is not valid: ${inbound.fault}`);
  const operation = operationOf(subject);
  const headers = normalizeHeaders(inbound.headers);
  checkServicePlace(headers, subject);
  const missing = REQUIRED[operation].filter((name) => (headers[name] ?? "").trim() === "");
  if (missing.length > 0) throw violation(`missing headers: ${missing.join(", ")}`, { missing });
  const toolCallId = headers[HEADERS.toolCallId] ?? "";
  const body = bodyOf(operation, inbound.payload);
  if (operation === "put_card") checkCard(body, toolCallId);
  return {
    operation,
    request: {
      caller: {
        named: "this user",
        targets: [subject.target],
        by: { door: "nats", tokenId: null, role: "tool", actor: `tool.${subject.target}` },
      },
      projectId: subject.projectId,
      toolCallId,
      headers: saidChannel(headers, subject.channelId),
      leaseId: headers[LEASE_HEADER],
      body,
    },
  };
};
