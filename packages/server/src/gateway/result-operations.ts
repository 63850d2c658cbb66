// What a service has made: the result in one step, or the protocol's two (write the card, report it), and parts on the way.

import type { Settled } from "@toolplane/engine";
import { type JsonValue, MAX_JSON_BYTES } from "@toolplane/protocol";
import { z } from "zod";
import { type BodyOf, text, textOrNull, time } from "../http/answers.ts";
import { anyObject, factsFor, keyOf, ok, operation, personIn, plainText, traceparentOf } from "./service-request.ts";

/** The engine refuses a result that is larger than a card, with its own code; this only bounds what is read. */
export const MAX_RESULT_BYTES = MAX_JSON_BYTES;
/** It was read from JSON, so its values need no second check: that would take longer than reading it. */
const anyValue = z.custom<JsonValue>((value) => value !== undefined, "is required");
const MAX_PARTS = 1_000;

const said = z.string().default("");

export const settledShape = z.strictObject({
  tool_result_card_id: textOrNull.meta({
    description: "Null: the attempt failed and is tried again, so no card was made.",
  }),
  status: text,
  idempotent: z.boolean(),
  retry_at: time.optional(),
});

export const acceptedBody = z.strictObject({ accepted: z.int() });

const settledBody = ({ toolResultCardId, status, idempotent, retryAt }: Settled): BodyOf<typeof settledShape> => ({
  tool_result_card_id: toolResultCardId,
  status,
  idempotent,
  ...(retryAt === undefined ? {} : { retry_at: retryAt.toISOString() }),
});

export const settle = operation({
  maxBytes: MAX_RESULT_BYTES,
  anyText: true,
  parts: { are: "report" },
  body: z.strictObject({
    lease: plainText.optional(),
    status: z.unknown(),
    result: z.unknown().optional(),
    error: z.unknown().optional(),
    after_execution: z.unknown().optional(),
    definition_hash: z.string().max(128).optional(),
    control_stripped: z.array(z.string().max(64)).max(8).optional(),
    /** The state for the next call of the session; ignored for a call without a session. */
    session_state: anyObject.optional(),
    /** Further ways to show the result: `model`, `display`, `preview`. */
    views: anyObject.optional(),
    /** What the tool's program said about its failure. Operators see it; no card has it. Long ones are cut. */
    diagnostics: z.strictObject({ name: said, message: said, stack: said }).optional(),
  }),
  answers: { 200: settledShape },
  async run(request) {
    const { engine, body } = request;
    const { actorId } = await factsFor(request);
    const given = {
      status: body.status,
      result: body.result,
      error: body.error,
      afterExecution: body.after_execution,
      definitionHash: body.definition_hash,
      sessionState: body.session_state,
      views: body.views,
      strippedControl: body.control_stripped,
    };
    return ok(
      settledBody(
        await engine.calls.settle({
          ...keyOf(request),
          actorId,
          leaseId: body.lease,
          traceparent: traceparentOf(request),
          outcome: { given },
          diagnostics: body.diagnostics,
          by: personIn(request, body.lease),
        }),
      ),
    );
  },
});

export const putCard = operation({
  maxBytes: MAX_RESULT_BYTES,
  anyText: true,
  body: anyObject,
  answers: { 201: z.strictObject({ card_id: text, hash: text }) },
  async run(request) {
    const { engine, projectId, leaseId, body } = request;
    const { actorId } = await factsFor(request);
    const { cardId, hash } = await engine.calls.putResultCard({ projectId, actorId, leaseId, card: body });
    return { status: 201, body: { card_id: cardId, hash } };
  },
});

export const report = operation({
  body: anyObject,
  answers: { 200: settledShape },
  async run(request) {
    const { engine, body, headers, leaseId } = request;
    const { actorId } = await factsFor(request);
    const by = personIn(request, leaseId);
    const asked = { ...keyOf(request), actorId, leaseId, payload: body, headers, by };
    return ok(settledBody(await engine.calls.report(asked)));
  },
});

export const parts = operation({
  body: z.strictObject({
    lease: plainText.optional(),
    parts: z.array(z.strictObject({ index: z.number().int().min(0), part: anyValue })).max(MAX_PARTS),
  }),
  answers: { 202: acceptedBody },
  async run(request) {
    await request.engine.calls.checkHeld(await factsFor(request), request.body.lease);
    await request.engine.emitParts(keyOf(request), request.body.parts);
    return { status: 202, body: { accepted: request.body.parts.length } };
  },
});
