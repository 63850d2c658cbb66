// A turn that is spawned for an idle agent is dispatched in the same statement. Where its pool has a place in this process it
// is also taken: the head runs, the inbox row is work under a claim, the first step has begun. The events are those of a turn
// that was dispatched and taken one after the other.

import { CHAIN_VERSION } from "../calls/turn-chain.ts";
import { workOf } from "./advance-writes.ts";
import type { Place } from "./agent-bells.ts";
import { beginStep } from "./begin-step.ts";
import type { KnownTurn } from "./known-work.ts";
import type { LedgerMeans } from "./ledger.ts";
import { headAfter, headInTurn } from "./plan-head.ts";
import type { PlannedSpawn } from "./plan-spawn.ts";
import type { SpawnRow } from "./spawn.sql.ts";
import type { TurnKind, Work } from "./turn.ts";
import { stateEvent, wakeupOf } from "./turn-messages.ts";
import type { HeadRow, TurnRow } from "./turn-row.ts";
import type { TurnWrites } from "./turn-write-rows.sql.ts";
import { createTurnWrites } from "./turn-writes.ts";

const turnRowOf = (row: SpawnRow, epoch: number, nowMs: number): TurnRow => ({
  project_id: row.projectId,
  agent_turn_id: row.agentTurnId,
  agent_id: row.agentId,
  kind: row.kind as TurnKind,
  status: "active",
  correlation_id: row.correlationId,
  request_hash: row.requestHash,
  source_agent_id: row.sourceAgentId,
  channel_id: row.channelId,
  recursion_depth: row.recursionDepth,
  trace_id: row.traceId,
  traceparent: row.traceparent,
  tracestate: row.tracestate,
  parent_traceparent: row.parentTraceparent,
  parent_agent_id: row.parentAgentId,
  parent_agent_turn_id: row.parentAgentTurnId,
  parent_step_id: row.parentStepId,
  profile_box_id: row.profileBoxId,
  context_box_id: row.contextBoxId,
  output_box_id: row.outputBoxId,
  display_name: row.displayName,
  payload: row.payload,
  runtime_config: row.runtimeConfig,
  metadata: row.metadata,
  step_count: 0,
  turn_epoch: epoch,
  deliverable_card_id: null,
  error: null,
  error_code: null,
  end_claim_id: null,
  chain_version: CHAIN_VERSION,
  chain_seq: row.chainSeq,
  chain_hash: row.chainHash,
  created_ms: nowMs,
  dispatched_ms: nowMs,
});

export interface TakenTurn {
  readonly work: Work;
  readonly known: KnownTurn;
}

/** The same with the time of the transaction that wrote it. */
export const takenAt = ({ work, known: { head, turn } }: TakenTurn, nowMs: number): TakenTurn => ({
  work: {
    ...work,
    inboxCreatedAtMs: nowMs,
    claimedAtMs: nowMs,
    turnCreatedAtMs: nowMs,
    turnDispatchedAtMs: nowMs,
  },
  known: { head: { ...head, now_ms: nowMs }, turn: { ...turn, created_ms: nowMs, dispatched_ms: nowMs } },
});

export interface FirstTurn {
  readonly row: SpawnRow;
  readonly writes: TurnWrites;
  /** What the place gets after the commit, and what is known of it then. */
  readonly taken: TakenTurn | undefined;
}

export interface FirstTurnMeans extends LedgerMeans {
  readonly claimSeconds: number;
}

export const planFirstTurn = (
  { row, opening }: PlannedSpawn,
  head: HeadRow,
  place: Place | undefined,
  means: FirstTurnMeans,
): FirstTurn => {
  const epoch = head.turn_epoch + 1;
  const turn = turnRowOf(row, epoch, head.now_ms);
  const writes = createTurnWrites();
  writes.messages.push(stateEvent(turn, { status: "dispatched", epoch }, means));
  if (place === undefined) {
    writes.heads.push(headInTurn(turn, { status: "dispatched", epoch, waiting: 0, chain: undefined }));
    writes.wakeups.push(wakeupOf(turn, epoch, { inboxId: row.inboxId, reason: "dispatch_next" }, means));
    return { row: { ...row, turnEpoch: epoch, inboxStatus: "pending" }, writes, taken: undefined };
  }
  const { claimSeconds } = means;
  const claim = { claimId: `claim_${means.ids.uuid()}`, claimSeconds, worker: place.workerId.slice(0, 200) };
  const chain = { seq: row.chainSeq, hash: row.chainHash };
  writes.heads.push(headInTurn(turn, { status: "running", epoch, waiting: 0, chain }));
  writes.messages.push(stateEvent(turn, { status: "running", epoch, metadata: { activity: "thinking" } }, means));
  const taken = workOf(turn, { inboxId: row.inboxId, epoch, createdMs: head.now_ms, nowMs: head.now_ms }, claim);
  const begunStepId = place.stepOf(taken);
  if (begunStepId !== undefined) beginStep(writes, turn, epoch, begunStepId, means);
  return {
    row: { ...row, turnEpoch: epoch, inboxStatus: "processing", ...claim },
    writes,
    taken: { work: { ...taken, begunStepId, opening }, known: { head: headAfter(head, turn, epoch, chain), turn } },
  };
};
