// A call as the API shows it.

import type { CallAnswer, CallLease, CallView, Decision, Engine } from "@toolplane/engine";
import { AFTER_EXECUTIONS, type Card, type ToolResultContent } from "@toolplane/protocol";
import { z } from "zod";
import { anyObject, type BodyOf, errorOfItem, text, textOrNull, time, timeOrNull } from "../http/answers.ts";
import { CALL_STATUSES } from "../http/statuses.ts";

const answerFields = {
  tool_call_id: text,
  agent_turn_id: text,
  tool_call_card_id: text,
  tool_name: text,
  status: z.enum(CALL_STATUSES),
  after_execution: z.enum(AFTER_EXECUTIONS),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
  tool_result_card_id: text.optional(),
  trace_id: text,
};

/** The answer to a call request: the contract of POST /calls. */
export const callAnswerBody = z.strictObject(answerFields).meta({ id: "CallAnswer" });

/** The answer to a retry: the new call, and the call that it repeats. */
export const retriedCallBody = z.strictObject({ ...answerFields, retry_of: text }).meta({ id: "RetriedCall" });

const refusedItem = z.strictObject({ error: errorOfItem });

/** An item of a batch: its call, or why there is none. */
export const batchItemBody = z.union([
  z.strictObject({ ...answerFields, result_omitted: z.literal(true).optional() }),
  refusedItem,
]);
/** An item of a batch as a line of a stream. */
export const batchLineBody = z.union([
  z.strictObject({ index: z.int(), ...answerFields }),
  refusedItem.extend({ index: z.int() }),
]);

const leaseShape = z.strictObject({
  attempt: z.int(),
  holder: textOrNull,
  started_at: timeOrNull,
  ended_at: timeOrNull,
  ended: z.enum(["settled", "canceled", "timed_out", "lapsed", "released", "handed_on", "failed"]).nullable(),
  error_code: textOrNull.optional(),
});

const detailFields = {
  ...answerFields,
  agent_id: text,
  channel_id: text,
  step_id: text,
  target: text,
  tool_version: z.int(),
  definition_hash: text,
  retry_safe: z.boolean(),
  attempts: z.int(),
  lease: z.strictObject({ holder: text, expires_at: timeOrNull }).nullable(),
  run_deadline: timeOrNull,
  queue_deadline: timeOrNull,
  available_at: timeOrNull,
  created_at: time,
  started_at: timeOrNull,
  settled_at: timeOrNull,
  settled_by: textOrNull,
  error_code: textOrNull,
  idempotency_key: textOrNull,
  retry_of: textOrNull,
};

/** A call in a list. */
export const callBody = z.strictObject(detailFields).meta({ id: "Call" });

/** Which arguments came from the definition and not from the caller. */
export const argumentLayers = z.strictObject({
  defaults: z.array(text),
  fixed: z.array(text),
  envs: z.record(text, text),
  hidden: z.array(text),
});

/** What a person decided about a call. */
export const decisionFields = {
  verdict: z.enum(["approved", "denied"]),
  by: text,
  reason: textOrNull,
  decided_at: time,
};

type DecisionBody = z.infer<z.ZodObject<typeof decisionFields>>;

export const decisionBody = ({
  verdict,
  by,
  reason,
  decidedAt,
}: Omit<Decision, "status" | "idempotent">): DecisionBody => ({
  verdict,
  by,
  reason,
  decided_at: decidedAt,
});

/** A call that is looked at alone. */
export const callDetailBody = z
  .strictObject({
    ...detailFields,
    leases: z.array(leaseShape),
    approval: z.strictObject(decisionFields).optional().meta({ description: "What a person decided about it." }),
    arguments: anyObject.optional(),
    argument_layers: argumentLayers.optional(),
    views: z
      .strictObject({ model: z.unknown().optional(), display: anyObject.optional(), preview: text.optional() })
      .optional()
      .meta({ description: "Further ways to show the result, made by the tool." }),
    diagnostics: z.strictObject({ name: text, message: text, stack: text }).optional(),
  })
  .meta({ id: "CallDetail" });

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

const resultOf = (card: Card | undefined): ToolResultContent | undefined =>
  card?.content.__type__ === "ToolResultContent" ? card.content : undefined;

export const callAnswer = (view: CallAnswer, card?: Card): BodyOf<typeof callAnswerBody> => {
  const content = view.content ?? resultOf(card);
  return {
    tool_call_id: view.toolCallId,
    agent_turn_id: view.agentTurnId,
    tool_call_card_id: view.callCardId,
    tool_name: view.toolName,
    status: view.status,
    after_execution: view.afterExecution,
    ...(content === undefined ? {} : { result: content.result }),
    ...(content === undefined || content.error === null ? {} : { error: content.error }),
    ...(view.resultCardId === null ? {} : { tool_result_card_id: view.resultCardId }),
    trace_id: view.traceId,
  };
};

const leaseBody = ({
  attempt,
  holder,
  startedAt,
  endedAt,
  ended,
  errorCode,
}: CallLease): BodyOf<typeof leaseShape> => ({
  attempt,
  holder,
  started_at: iso(startedAt),
  ended_at: iso(endedAt),
  ended,
  ...(ended === "failed" ? { error_code: errorCode } : {}),
});

export const leasesBody = (leases: readonly CallLease[]): readonly BodyOf<typeof leaseShape>[] => leases.map(leaseBody);

/** Who asked for a call, who has it, and until when. */
export const callDetail = (view: CallView, card: Card | undefined): BodyOf<typeof callBody> => ({
  ...callAnswer(view, card),
  agent_id: view.agentId,
  channel_id: view.channelId,
  step_id: view.stepId,
  target: view.target,
  tool_version: view.toolVersion,
  definition_hash: view.definitionHash,
  retry_safe: view.retrySafe,
  attempts: view.attempts,
  lease:
    view.leaseHolder === null || view.settledAt !== null
      ? null
      : { holder: view.leaseHolder, expires_at: iso(view.leaseExpiresAt) },
  run_deadline: iso(view.runDeadline),
  queue_deadline: iso(view.queueDeadline),
  available_at: iso(view.availableAt),
  created_at: view.createdAt.toISOString(),
  started_at: iso(view.startedAt),
  settled_at: iso(view.settledAt),
  settled_by: view.settledBy,
  error_code: view.errorCode,
  idempotency_key: view.idempotencyKey,
  retry_of: view.retryOf,
});

/** Result cards of settled calls, in one read; what an answer says already is not read. */
export const resultCards = async (
  engine: Pick<Engine, "cards">,
  projectId: string,
  views: readonly CallAnswer[],
): Promise<ReadonlyMap<string, Card>> => {
  const ids = views.flatMap(({ resultCardId, content }) =>
    resultCardId === null || content !== undefined ? [] : [resultCardId],
  );
  const cards = ids.length === 0 ? [] : await engine.cards.getCards(projectId, ids);
  return new Map(cards.map((card) => [card.card_id, card]));
};
