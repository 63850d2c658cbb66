// A call as the API shows it.

import type { CallAnswer, CallLease, CallView, Engine } from "@toolplane/engine";
import type { Card, ToolResultContent } from "@toolplane/protocol";

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

const resultOf = (card: Card | undefined): ToolResultContent | undefined =>
  card?.content.__type__ === "ToolResultContent" ? card.content : undefined;

/** The answer to a call request: the contract of POST /calls. */
export const callAnswer = (view: CallAnswer, card?: Card): Record<string, unknown> => {
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

const leaseBody = ({ attempt, holder, startedAt, endedAt, ended, errorCode }: CallLease): Record<string, unknown> => ({
  attempt,
  holder,
  started_at: iso(startedAt),
  ended_at: iso(endedAt),
  ended,
  ...(ended === "failed" ? { error_code: errorCode } : {}),
});

/** Everything about a call: who asked, who has it, until when, and who had it before. Lists leave the last out. */
export const callDetail = (
  view: CallView,
  card: Card | undefined,
  leases?: readonly CallLease[],
): Record<string, unknown> => ({
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
  ...(leases === undefined ? {} : { leases: leases.map(leaseBody) }),
  run_deadline: iso(view.runDeadline),
  queue_deadline: iso(view.queueDeadline),
  available_at: iso(view.availableAt),
  created_at: iso(view.createdAt),
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
