// Requests of payload-style services (v1r3): they say who they are about in the payload, not in headers. Such a request becomes
// one of the current version here, and from then on it is checked like every other: what it says about its call must equal the
// call's row, and the actor is the one of the subject, which the NATS server lets only its own user publish under.
//   - The three operations that the older guide needs: read the call's card, save the result card, report it.
//   - A report names agent, turn, epoch and call; the older version requires them. Fields that are not known are ignored.

import type { InboundRequest } from "@toolplane/bus/nats";
import {
  HEADERS,
  type HeaderMap,
  isRecord,
  PROTOCOL_VERSION,
  parseJsonStrict,
  ToolplaneError,
  type TraceIds,
  violation,
} from "@toolplane/protocol";
import { adaptLegacyRequest, currentSubject, LEGACY_VERSION } from "@toolplane/protocol/v1r3";

const OPERATIONS = ["get_card", "put_card", "report"] as const;
type PayloadOperation = (typeof OPERATIONS)[number];

type Fields = Readonly<Record<string, unknown>>;

/** What the older version demands beside the call's id, without which no request is read. */
const REQUIRED: Readonly<Record<PayloadOperation, readonly string[]>> = {
  get_card: [],
  put_card: [],
  report: [HEADERS.agentId, HEADERS.turnId, HEADERS.turnEpoch],
};

const CALLBACK_FIELDS = ["status", "after_execution", "tool_result_card_id", "result"];

const pick = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]));

/** A card's own project and call are the identity of its writer's request; its other fields belong to the card. */
const identityOf = (operation: PayloadOperation, fields: Fields): Fields =>
  operation === "put_card" ? pick(fields, ["project_id", "tool_call_id"]) : fields;

const bodyOf = (operation: PayloadOperation, fields: Fields): Fields => {
  if (operation === "put_card") return fields;
  // `result` is kept so that it is refused: a report points to a card.
  if (operation === "report") return pick(fields, CALLBACK_FIELDS);
  const { tool_call_card_id: cardId } = fields;
  return cardId === undefined ? {} : { card_id: cardId };
};

const operationOf = (suffix: string): PayloadOperation => {
  const operation = OPERATIONS.find((known) => known === suffix);
  if (operation !== undefined) return operation;
  throw new ToolplaneError(
    "not_found",
    `${LEGACY_VERSION} has no operation ${suffix}; use ${OPERATIONS.join(", ")}, or version ${PROTOCOL_VERSION}`,
  );
};

const requireIdentity = (operation: PayloadOperation, headers: HeaderMap): void => {
  const missing = REQUIRED[operation].filter((name) => (headers[name] ?? "").trim() === "");
  if (missing.length > 0) throw violation(`missing identity: ${missing.join(", ")}`, { missing });
};

/** The request as a service of the current version would have sent it. Throws the error that becomes the answer. */
export const adaptPayloadRequest = (inbound: InboundRequest, ids: TraceIds): InboundRequest => {
  const { suffix } = currentSubject(inbound.subject);
  if (inbound.fault !== undefined)
    throw new ToolplaneError("bad_request", `the request is not valid: ${inbound.fault}`);
  const operation = operationOf(suffix);
  const fields = parseJsonStrict(inbound.payload, { namesOnce: true });
  if (!isRecord(fields)) throw new ToolplaneError("bad_request", "the payload is not a JSON object");
  const { subject, headers } = inbound;
  const identity = identityOf(operation, fields);
  const adapted = adaptLegacyRequest({ subject, headers, identity, payload: bodyOf(operation, fields) }, ids);
  requireIdentity(operation, adapted.headers);
  return { ...inbound, ...adapted, payload: JSON.stringify(adapted.payload) };
};
