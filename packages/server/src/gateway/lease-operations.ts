// What a service does with a command: attaches to a target, leases the call, reads the card, sends heartbeats, gives it back.

import type { CallStatus, CallView, LeasedCall } from "@toolplane/engine";
import { AFTER_EXECUTIONS, isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import { checkCallTrace, checkLeasePayload, streamPlan } from "@toolplane/protocol/agents";
import { z } from "zod";
import { type StoredCard, storedCardBody } from "../cards/card-body.ts";
import { type BodyOf, text, time, timeOrNull } from "../http/answers.ts";
import { claimFields } from "./claim-calls.ts";
import { factsFor, keyOf, ok, operation, plainText, refuseTarget, traceparentOf } from "./service-request.ts";

/** It becomes part of the lease's id, beside the call's. */
const MAX_TICKET_LENGTH = 64;

/** A lease, or nothing. */
const SMALL_BYTES = 64 * 1024;

const leaseBody = z.strictObject({ lease: plainText });

/** A leased call as it is handed to a service. */
export const commandShape = z
  .strictObject({
    subject: text,
    headers: z.record(text, text),
    payload: z.strictObject({
      tool_call_card_id: text,
      tool_name: text,
      after_execution: z.enum(AFTER_EXECUTIONS),
    }),
    lease: z.strictObject({ id: text, expires_at: time }),
    run_deadline: time,
    attempt: z.int(),
    once: z.literal(true).optional().meta({
      description: "Each start takes a token of the tool's rate: run the tool once under this lease.",
    }),
    session: z.unknown().optional(),
    card: storedCardBody.optional(),
  })
  .meta({ id: "Command" });

export const heartbeatBody = z.strictObject({ expires_at: timeOrNull, cancel: z.boolean() });
export const releasedBody = z.strictObject({ released: z.boolean() });

export const commandBody = ({
  command,
  lease,
  runDeadline,
  attempt,
  session,
  once,
}: LeasedCall): BodyOf<typeof commandShape> => ({
  subject: command.subject,
  headers: command.headers,
  payload: command.payload,
  lease: { id: lease.id, expires_at: lease.expiresAt.toISOString() },
  run_deadline: runDeadline.toISOString(),
  attempt,
  ...(once ? { once } : {}),
  ...(session === undefined ? {} : { session }),
});

const whyNotLeased = (toolCallId: string, status: CallStatus, isPinned = false): string => {
  if (status === "queued" && isPinned)
    return `call ${toolCallId} is pinned to a definition that this service does not name; leave its command to a service that does`;
  if (status === "queued")
    return `call ${toolCallId} is not due yet, its session is busy or a limit holds it; ask again in a second`;
  if (status === "running") return `call ${toolCallId} is held by another service; forget the command`;
  if (status === "awaiting_approval") return `call ${toolCallId} waits for approval; its command will come again`;
  return `call ${toolCallId} has settled (${status}); forget the command`;
};

/**
 * `detail.status` tells a service whether to ask again (`queued`) or to forget the command; `reason: pinned` means later, and
 * `retry_after_ms` when a limit lets it pass.
 */
const notLeased = (toolCallId: string, status: CallStatus, isPinned = false, retryAfterMs?: unknown): ToolplaneError =>
  new ToolplaneError("lease_lost", whyNotLeased(toolCallId, status, isPinned), {
    detail: {
      status,
      ...(isPinned && status === "queued" ? { reason: "pinned" } : {}),
      ...(status === "queued" && typeof retryAfterMs === "number" ? { retry_after_ms: retryAfterMs } : {}),
    },
  });

/** A service on NATS says which target it serves, and is told where its commands are. */
export const attach = operation({
  body: z.strictObject({
    target: plainText.optional(),
    /** It waits for calls by `exchange`, and fetches nothing from the durable. */
    waits: z.boolean().default(false),
    ...claimFields,
  }),
  answers: { 200: z.strictObject({ stream: text, durable: text }) },
  async run({ engine, caller, projectId, body }) {
    const { target = caller.targets?.[0] ?? "", waits, holder, definitions } = body;
    if (caller.targets?.includes(target) !== true) throw refuseTarget(caller, target);
    const durable = await engine.attach({ projectId, target }, !waits);
    // A service that waits names itself with each question.
    if (holder !== undefined && !waits) engine.calls.greet({ projectId, target, holder, definitions });
    return ok({ stream: streamPlan("cmd").name, durable });
  },
});

export const lease = operation({
  // The command's own payload, which is held against the call.
  body: z.looseObject({
    holder: plainText.optional(),
    ticket: plainText.max(MAX_TICKET_LENGTH).optional(),
    definitions: claimFields.definitions,
  }),
  answers: { 200: commandShape },
  async run(request) {
    const { engine, body } = request;
    const key = keyOf(request);
    // From memory where the call was made here. How it stands is read only when it cannot be leased.
    const facts = await factsFor(request);
    checkCallTrace(traceparentOf(request), facts);
    checkLeasePayload(body, facts);
    const { agentTurnId, callCardId, target } = facts;
    const { ticket, definitions, holder = `${facts.actorId} (nats)` } = body;
    const asked = { ...key, agentTurnId, callCardId, target, holder, ticket, definitions };
    const leased = await engine.calls.lease(asked).catch(async (error: unknown) => {
      if (!isToolplaneError(error) || error.code !== "lease_lost") throw error;
      const pin = await engine.calls.pin(key);
      const isPinned = pin !== undefined && !(await engine.calls.mayRun(key.projectId, definitions, pin));
      const { status } = await engine.calls.get(key);
      throw notLeased(key.toolCallId, status, isPinned, error.detail?.retry_after_ms);
    });
    return ok({ ...commandBody(leased), card: JSON.parse(leased.cardBody) as StoredCard });
  },
});

/** A service may read a call's card while it holds the call; not while the call is queued for others, and not afterwards. */
const checkHeld = ({ toolCallId, status, plain }: CallView): void => {
  // A plain service takes no lease: its call stays queued until the result is there, or runs without one under a limit.
  if (status === "running" || (plain && status === "queued")) return;
  const why =
    status === "queued" ? `call ${toolCallId} is not leased; claim it first` : whyNotLeased(toolCallId, status);
  throw new ToolplaneError("lease_lost", why, { detail: { status } });
};

export const getCard = operation({
  maxBytes: SMALL_BYTES,
  body: z.strictObject({ card_id: plainText.optional() }),
  answers: { 200: storedCardBody },
  async run(request) {
    const { callCardId, projectId } = await factsFor(request);
    if (request.caller.targets !== undefined) checkHeld(await request.engine.calls.get(keyOf(request)));
    const { card_id: asked = callCardId } = request.body;
    if (asked !== callCardId)
      throw new ToolplaneError("not_found", `call ${request.toolCallId} has no card ${asked}; leave card_id out`);
    const [card] = await request.engine.cards.getCards(projectId, [callCardId]);
    if (card === undefined)
      throw new ToolplaneError("not_found", `the card of call ${request.toolCallId} is not there any more`);
    return ok(card);
  },
});

export const heartbeat = operation({
  maxBytes: SMALL_BYTES,
  body: leaseBody,
  answers: { 200: heartbeatBody },
  async run(request) {
    await factsFor(request);
    const beat = await request.engine.calls.heartbeat({ ...keyOf(request), leaseId: request.body.lease });
    return ok({ expires_at: beat.expiresAt?.toISOString() ?? null, cancel: beat.cancel });
  },
});

export const release = operation({
  maxBytes: SMALL_BYTES,
  body: leaseBody,
  answers: { 200: releasedBody },
  async run(request) {
    await factsFor(request);
    await request.engine.calls.release({ ...keyOf(request), leaseId: request.body.lease });
    return ok({ released: true });
  },
});
