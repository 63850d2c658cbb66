// What an advance does to one turn, added to its ledger: results applied, thinking begun or resumed, the turn ended.

import {
  canonicalText,
  coerceStatus,
  createToolResultCard,
  egress,
  type JsonObject,
  lineageMeta,
  type ToolResultContent,
} from "@toolplane/protocol";
import { FALLBACK_SOURCES, TERMINATED_HEADLINE, taskErrorText, terminatedReason } from "@toolplane/protocol/agents";
import { citeResult, type Ledger, type LedgerMeans, sayCard } from "./ledger.ts";
import type { LiveRow } from "./plan-advance.ts";
import { type EndingRow, planEnd } from "./plan-end.ts";
import { headInTurn, inboxChange } from "./plan-head.ts";
import { type Resume, resumeDeadline, type WaitedCall } from "./plan-resume.ts";
import { stepOf } from "./step-row.ts";
import type { TurnEnd, Work } from "./turn.ts";
import { stateEvent, stepEvent } from "./turn-messages.ts";
import { contextOfTurn, type HeadRow, parseDocument, speakerOf, type TurnRow } from "./turn-row.ts";

export interface WorkClaim {
  readonly claimId: string;
  readonly claimSeconds: number;
  readonly worker: string;
}

/** Counts results, and puts those that are next in order into the box. */
export const applyResults = (
  ledger: Ledger,
  { apply, release }: Pick<Resume, "apply" | "release">,
  { sha256 }: LedgerMeans,
): void => {
  const { turn, writes } = ledger;
  const places = new Map(
    release.map(({ tool_call_id, result_card_id: cardId, card_hash: hash, approval_hash: approvalHash }) => [
      tool_call_id,
      citeResult(ledger, { cardId, hash, approvalHash }, sha256),
    ]),
  );
  const touched = new Set([...apply, ...release].map(({ tool_call_id }) => tool_call_id));
  for (const toolCallId of touched) {
    const { seq: chainSeq, hash: chainHash } = places.get(toolCallId) ?? { seq: null, hash: null };
    writes.applied.push({ projectId: turn.project_id, toolCallId, chainSeq, chainHash });
  }
};

/** One event for all results applied at once, when others are still awaited. */
export const tellWaiting = (
  ledger: Ledger,
  head: HeadRow,
  calls: readonly WaitedCall[],
  resume: Resume,
  means: LedgerMeans,
): void => {
  const awaited = new Map(calls.filter(({ applied }) => !applied).map((call) => [call.tool_call_id, call.deadline_ms]));
  for (const { tool_call_id } of resume.apply) {
    awaited.delete(tool_call_id);
    if (awaited.size === 0) return;
    const metadata = {
      activity: "awaiting_tool_result",
      waiting_tool_count: awaited.size,
      ...resumeDeadline([...awaited.values()]),
    };
    const state = { status: "suspended" as const, epoch: head.turn_epoch, metadata, more: tool_call_id };
    ledger.writes.messages.push(stateEvent(ledger.turn, state, means));
  }
};

export const stayWaiting = (ledger: Ledger, head: HeadRow, resume: Resume): void => {
  const { turn, chain, writes } = ledger;
  writes.heads.push(headInTurn(turn, { status: "suspended", epoch: head.turn_epoch, waiting: resume.waiting, chain }));
};

/** The step whose results were awaited is over. */
const completeStep = (
  ledger: Ledger,
  head: HeadRow,
  calls: readonly WaitedCall[],
  means: LedgerMeans,
  failed?: string,
): void => {
  const [first] = calls;
  if (first === undefined) return;
  const { turn, writes } = ledger;
  const results = calls.flatMap(({ result_card_id }) => result_card_id ?? []);
  writes.steps.push(
    stepOf(turn, {
      stepId: first.step_id,
      status: failed === undefined ? "completed" : "failed",
      newCardIds: JSON.stringify(results),
      error: failed ?? null,
      ended: true,
    }),
  );
  const metadata: JsonObject | undefined =
    first.step_metadata === null || Object.keys(first.step_metadata).length === 0 ? undefined : first.step_metadata;
  writes.messages.push(
    stepEvent(
      turn,
      head.turn_epoch,
      {
        stepId: first.step_id,
        phase: failed === undefined ? "completed" : "failed",
        metadata,
        newCardIds: [...(first.step_card_ids ?? []), ...results],
      },
      means,
    ),
  );
};

const continuationOf = (
  turn: TurnRow,
  epoch: number,
  inboxId: string,
  claim: WorkClaim | undefined,
  means: LedgerMeans,
) => ({
  projectId: turn.project_id,
  inboxId,
  agentId: turn.agent_id,
  channelId: turn.channel_id,
  messageType: "continuation",
  correlationId: `${turn.agent_turn_id}:${epoch}`,
  agentTurnId: turn.agent_turn_id,
  turnEpoch: epoch,
  contextHeaders: JSON.stringify(egress(contextOfTurn(turn, epoch), means.ids, "topology")),
  payload: canonicalText({}),
  status: claim === undefined ? "pending" : "processing",
  claimId: claim?.claimId ?? null,
  claimSeconds: claim?.claimSeconds ?? null,
  worker: claim?.worker ?? null,
});

/** All results are there: the turn runs again in a new epoch, and the right to think is a row (I5). */
export const runAgain = (
  ledger: Ledger,
  head: HeadRow,
  calls: readonly WaitedCall[],
  row: { readonly inboxId: string; readonly claim: WorkClaim | undefined },
  means: LedgerMeans,
): number => {
  const { turn, chain, writes } = ledger;
  const epoch = head.turn_epoch + 1;
  completeStep(ledger, head, calls, means);
  writes.heads.push(headInTurn(turn, { status: "running", epoch, waiting: 0, chain }));
  writes.arrivals.push(continuationOf(turn, epoch, row.inboxId, row.claim, means));
  writes.messages.push(stateEvent(turn, { status: "running", epoch, metadata: { activity: "thinking" } }, means));
  return epoch;
};

/** Takes waiting work; the first time, the turn begins to run. */
export const takeWork = (ledger: Ledger, head: HeadRow, row: LiveRow, claim: WorkClaim, means: LedgerMeans): void => {
  const { turn, chain, writes } = ledger;
  writes.changes.push(
    inboxChange(
      { projectId: turn.project_id, inboxId: row.inbox_id },
      {
        status: "processing",
        claimId: claim.claimId,
        claimSeconds: claim.claimSeconds,
        worker: claim.worker,
        retries: row.status === "processing" && row.claim_id !== claim.claimId ? 1 : 0,
      },
    ),
  );
  const { turn_epoch: epoch } = head;
  // Also when it ran before: a request a moment later sees that the head was held.
  writes.heads.push(headInTurn(turn, { status: "running", epoch, waiting: 0, chain }));
  if (head.status === "dispatched")
    writes.messages.push(stateEvent(turn, { status: "running", epoch, metadata: { activity: "thinking" } }, means));
};

export const workOf = (
  turn: TurnRow,
  row: { readonly inboxId: string; readonly epoch: number; readonly createdMs: number; readonly nowMs: number },
  claim: WorkClaim,
): Work => ({
  ...speakerOf(turn),
  kind: turn.kind,
  inboxId: row.inboxId,
  claimId: claim.claimId,
  turnEpoch: row.epoch,
  stepCount: turn.step_count,
  traceId: turn.trace_id,
  profileBoxId: turn.profile_box_id,
  outputBoxId: turn.output_box_id,
  displayName: turn.display_name ?? undefined,
  payload: parseDocument(turn.payload),
  runtimeConfig: parseDocument(turn.runtime_config),
  metadata: parseDocument(turn.metadata),
  inboxCreatedAtMs: row.createdMs,
  claimedAtMs: row.nowMs,
  turnCreatedAtMs: turn.created_ms,
  turnDispatchedAtMs: turn.dispatched_ms ?? turn.created_ms,
});

const idleEvent = (ledger: Ledger, epoch: number, error: string | null, means: LedgerMeans): void => {
  ledger.writes.messages.push(
    stateEvent(ledger.turn, { status: "idle", epoch, ...(error === null ? {} : { metadata: { error } }) }, means),
  );
};

/** A tool ended the turn. */
export const endByTool = (
  ledger: Ledger,
  head: HeadRow,
  calls: readonly WaitedCall[],
  primary: { readonly content: ToolResultContent; readonly cardId: string | undefined },
  facts: EndingRow,
  means: LedgerMeans,
): TurnEnd => {
  const { content } = primary;
  const status = coerceStatus(content.status);
  const error = taskErrorText(content) ?? null;
  const code = (content.error as JsonObject | null)?.code;
  completeStep(ledger, head, calls, means);
  const end = planEnd(
    ledger,
    {
      status,
      error,
      errorCode: status === "success" || typeof code !== "string" ? null : code,
      deliverable:
        facts.deliverable_card_id === null
          ? {
              source: FALLBACK_SOURCES.terminated,
              headline: TERMINATED_HEADLINE,
              reason: terminatedReason(status),
              facts,
            }
          : { cardId: facts.deliverable_card_id },
      marks: { terminatedByTool: true },
      stepId: calls[0]?.step_id,
      stepCount: ledger.turn.step_count,
      toolResultCardId: primary.cardId,
    },
    head.turn_epoch,
    means,
  );
  idleEvent(ledger, head.turn_epoch, error, means);
  return end;
};

const EXHAUSTED = "resume_retry_exhausted";

/** A result that cannot be read ends the turn: a failed result takes its place, so that the transcript is complete. */
export const endUnreadable = (
  ledger: Ledger,
  head: HeadRow,
  calls: readonly WaitedCall[],
  unreadable: readonly WaitedCall[],
  facts: EndingRow,
  means: LedgerMeans,
): TurnEnd => {
  const { turn } = ledger;
  const message = "the result of a tool call could not be read";
  const createdAt = new Date(means.nowMs).toISOString();
  for (const call of unreadable)
    sayCard(
      ledger,
      createToolResultCard({
        cardId: means.ids.uuid(),
        projectId: turn.project_id,
        createdAt,
        authorId: turn.agent_id,
        agentTurnId: turn.agent_turn_id,
        toolCallId: call.tool_call_id,
        functionName: "resume_handler",
        lineage: lineageMeta(contextOfTurn(turn, head.turn_epoch, call.step_id)),
        content: {
          __type__: "ToolResultContent",
          status: "failed",
          after_execution: "terminate",
          result: null,
          error: { code: "internal_error", message, source: "worker" },
        },
      }),
      means,
    );
  completeStep(ledger, head, calls, means, EXHAUSTED);
  const end = planEnd(
    ledger,
    {
      status: "failed",
      error: message,
      errorCode: EXHAUSTED,
      deliverable: { source: FALLBACK_SOURCES.terminated, headline: message, reason: EXHAUSTED, facts },
      stepId: calls[0]?.step_id,
      stepCount: turn.step_count,
    },
    head.turn_epoch,
    means,
  );
  idleEvent(ledger, head.turn_epoch, message, means);
  return end;
};
