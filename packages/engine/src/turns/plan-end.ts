// The end of a turn: one deliverable, one task event (I10), whatever ended it. The deliverable is the one that was given, else
// the one in its output box, else a substitute that says how far the turn got and why it stopped.

import {
  type Card,
  type JsonObject,
  type JsonValue,
  lineageMeta,
  parseCard,
  type ResultStatus,
  type TextContent,
} from "@toolplane/protocol";
import {
  createDeliverableCard,
  createFallbackDeliverable,
  type DeliverableCardInput,
  type FallbackInput,
  type FallbackSource,
} from "@toolplane/protocol/agents";
import { type Ledger, type LedgerMeans, sayCard } from "./ledger.ts";
import type { Deliverable, TurnEnd } from "./turn.ts";
import { taskEvent } from "./turn-messages.ts";
import { contextOfTurn } from "./turn-row.ts";
import { errorText } from "./turn-writes.ts";
import { uiEndedOf } from "./ui-ack.ts";

/** What is known of a turn without a deliverable. */
export interface EndingRow {
  readonly ord: number;
  readonly results: number;
  readonly thought: string | null;
  readonly deliverable_card_id: string | null;
}

export interface Ending {
  readonly status: ResultStatus;
  readonly error: string | null;
  readonly errorCode: string | null;
  readonly deliverable:
    | { readonly body: Deliverable }
    | { readonly cardId: string }
    | {
        readonly source: FallbackSource;
        readonly headline: string;
        readonly reason: string;
        readonly facts: EndingRow;
      };
  /** Further metadata of a deliverable that is made here. */
  readonly marks?: Pick<DeliverableCardInput, "stopReason" | "terminatedByTool"> | undefined;
  readonly stepId?: string | undefined;
  readonly stepCount: number;
  readonly stats?: JsonObject | undefined;
  readonly claimId?: string | undefined;
  readonly toolResultCardId?: string | undefined;
}

const thoughtText = (body: string | null): string | null => {
  if (body === null) return null;
  const { content } = parseCard(JSON.parse(body));
  return content.__type__ === "TextContent" ? (content as TextContent).text : null;
};

const fallbackOf = (
  ending: Ending,
  stand: Extract<Ending["deliverable"], { readonly facts: EndingRow }>,
): JsonObject => {
  const thought = thoughtText(stand.facts.thought);
  const partial = ending.status !== "success";
  const input: FallbackInput = {
    source: stand.source,
    partial,
    message: ending.error ?? stand.headline,
    summary: stand.headline,
    output: thought ?? "",
    reason: stand.reason,
    toolResultCount: stand.facts.results,
    lastAgentThought: thought,
    terminalStatus: ending.status,
    taskStatus: ending.status,
  };
  return createFallbackDeliverable(input);
};

const deliverableCard = (ledger: Ledger, ending: Ending, epoch: number, means: LedgerMeans): Card | undefined => {
  const { deliverable, marks } = ending;
  if ("cardId" in deliverable) return undefined;
  const { turn } = ledger;
  const made = "facts" in deliverable;
  return createDeliverableCard({
    cardId: means.ids.uuid(),
    projectId: turn.project_id,
    createdAt: new Date(means.nowMs).toISOString(),
    authorId: turn.agent_id,
    agentTurnId: turn.agent_turn_id,
    stepId: ending.stepId,
    lineage: lineageMeta(contextOfTurn(turn, epoch, ending.stepId)),
    body: made ? fallbackOf(ending, deliverable) : (deliverable.body as string | JsonObject | readonly JsonValue[]),
    partial: made && ending.status !== "success" ? true : undefined,
    terminalReason: made ? deliverable.reason : undefined,
    ...marks,
  });
};

/** A tool may have its own codes, which travel in every list and event; a longer text is not a code. */
const MAX_CODE_LENGTH = 128;

const bodyOf = ({ deliverable }: Ending): Deliverable | undefined =>
  "body" in deliverable ? deliverable.body : undefined;

/** Adds the end to the ledger; the head is the caller's. */
export const planEnd = (ledger: Ledger, ending: Ending, epoch: number, means: LedgerMeans): TurnEnd => {
  const { turn, writes, last } = ledger;
  const card = deliverableCard(ledger, ending, epoch, means);
  if (card !== undefined) sayCard(ledger, card, means);
  const deliverableCardId = card?.card_id ?? (ending.deliverable as { readonly cardId: string }).cardId;
  const error = ending.error === null ? null : errorText(ending.error);
  const errorCode = ending.errorCode?.slice(0, MAX_CODE_LENGTH).toWellFormed() ?? null;
  writes.turns.push({
    projectId: turn.project_id,
    agentTurnId: turn.agent_turn_id,
    status: ending.status,
    stepCount: ending.stepCount,
    turnEpoch: epoch,
    deliverableCardId,
    error,
    errorCode,
    endClaimId: ending.claimId ?? null,
    chainSeq: ledger.chain.seq,
    chainHash: ledger.chain.hash,
    dispatched: false,
    ended: true,
  });
  last.push(
    taskEvent(
      turn,
      epoch,
      {
        status: ending.status,
        deliverableCardId,
        toolResultCardId: ending.toolResultCardId,
        error,
        errorCode,
        stats: { ...ending.stats, duration_ms: Math.max(0, means.nowMs - (turn.dispatched_ms ?? turn.created_ms)) },
        chainHead: ledger.chain.hash,
      },
      means,
    ),
  );
  const ack = uiEndedOf(turn, epoch, { ...ending, error, errorCode, deliverable: bodyOf(ending) }, means);
  if (ack !== undefined) last.push(ack);
  return {
    projectId: turn.project_id,
    agentTurnId: turn.agent_turn_id,
    agentId: turn.agent_id,
    correlationId: turn.correlation_id,
    status: ending.status,
    deliverableCardId,
    outputBoxId: turn.output_box_id,
    error,
    errorCode,
  };
};
