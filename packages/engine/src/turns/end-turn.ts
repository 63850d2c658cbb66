// Ends a turn from outside, for a person, the project manager or a watchdog. Its open calls are canceled in the same
// transaction, so that nothing of it runs on; a result card that was already written is used. The epoch rises, so every message
// that is still on its way to the turn is late (I2).

import { CARD_AUTHORS, lineageMeta, type ResultStatus, ToolplaneError } from "@toolplane/protocol";
import { createAgentErrorCard, type FallbackSource } from "@toolplane/protocol/agents";
import { callKey } from "../calls/call.ts";
import { ENGINE_ACTOR } from "../calls/cancel.ts";
import { readCandidates } from "../calls/candidates.ts";
import { engineFailure } from "../calls/plan-settlement.ts";
import { type FactRow, factsOf } from "../calls/read.sql.ts";
import type { Settlements } from "../calls/settlements.ts";
import type { Queryer } from "../sql/database.ts";
import { bindWaits, READ_WAITED } from "./advance.sql.ts";
import { applyResults } from "./advance-writes.ts";
import { CONSUME_ROWS, READ_OPEN_CALLS, SKIP_QUEUED } from "./end-turn.sql.ts";
import { failSteps } from "./fail-steps.ts";
import { announce, meansOf, type TurnDeps } from "./held-heads.ts";
import { closeLedger, type Ledger, type LedgerMeans, mergeWrites, openLedger, sayCard } from "./ledger.ts";
import { planDispatch } from "./plan-dispatch.ts";
import { type EndingRow, planEnd } from "./plan-end.ts";
import { planResume, type WaitedCall } from "./plan-resume.ts";
import { stepOf } from "./step-row.ts";
import { type EndedKey, stopStepIdOf, type TurnEnd } from "./turn.ts";
import { stateEvent, stepEvent, wakeupOf } from "./turn-messages.ts";
import { chainOfHead, chainOfTurn, contextOfTurn, type HeadRow, type QueuedRow, type TurnRow } from "./turn-row.ts";
import { errorText, type Written, writeTurns } from "./turn-writes.ts";
import { bindAgents, bindTurns, READ_ENDINGS, READ_QUEUED } from "./turns.sql.ts";

export interface OutsideEnd {
  readonly status: ResultStatus;
  /** What people read. */
  readonly error: string;
  readonly errorCode: string;
  readonly source: FallbackSource;
  readonly headline: string;
  /** The actor that ends it; shown with the canceled calls. */
  readonly by: string;
  /** A stop leaves a step of its own, with a card that says so. */
  readonly stopped: boolean;
}

export interface EndedTurn {
  readonly end: TurnEnd;
  /** This turn and those after it that could not be started. */
  readonly ended: readonly EndedKey[];
  readonly written: Written;
}

export interface EndDeps extends TurnDeps {
  readonly settlements: Settlements;
}

/** What the stop wrote belongs to a step: the one that it broke off has ended with the cards it had. */
const endStopStep = (ledger: Ledger, stepId: string, error: string, epoch: number, means: LedgerMeans): void => {
  const { turn, writes, said } = ledger;
  writes.steps.push(
    stepOf(turn, {
      stepId,
      status: "failed",
      newCardIds: JSON.stringify(said),
      error,
      ended: true,
    }),
  );
  const event = { stepId, phase: "failed" as const, metadata: { error }, newCardIds: [...said] };
  writes.messages.push(stepEvent(turn, epoch, event, means));
};

/** After the commit: tells callers that wait for the turn, and its worker. */
export const announceEnd = (deps: EndDeps, { ended, written }: EndedTurn): void => {
  announce(deps, { ended, rang: true, ...written });
  deps.bells.ended(written.rung);
};

export const createEndTurn = (deps: EndDeps) => {
  const cancelCalls = async (tx: Queryer, turn: TurnRow, how: OutsideEnd): Promise<void> => {
    const open = await tx.query<FactRow>(READ_OPEN_CALLS, [turn.project_id, turn.agent_turn_id]);
    if (open.length === 0) return;
    const calls = open.map(factsOf).sort((a, b) => (a.toolCallId < b.toolCallId ? -1 : 1));
    const candidates = await readCandidates(tx, calls);
    const error = new ToolplaneError("canceled", `the turn was ended: ${how.error}`, { detail: { by: how.by } });
    const planned = calls.map((facts) => {
      const written = candidates.get(callKey(facts));
      return deps.settlements.plan({
        facts,
        mode: "cancel",
        leaseId: null,
        actorId: written === undefined ? ENGINE_ACTOR : facts.actorId,
        messageType: "tool_result",
        outcome: written === undefined ? { given: engineFailure("canceled", error, "worker") } : { written },
      });
    });
    await deps.settlements.within(tx, planned);
  };

  /** One result per call, also at the end: a canceled result enters the box like any other. */
  const applyAll = async (tx: Queryer, ledger: Ledger, head: HeadRow, means: LedgerMeans): Promise<number> => {
    const { turn } = ledger;
    const key = { projectId: turn.project_id, agentTurnId: turn.agent_turn_id, turnEpoch: head.turn_epoch };
    const calls = await tx.query<WaitedCall>(READ_WAITED, bindWaits([key]));
    const resume = planResume(calls);
    applyResults(ledger, resume, means);
    return resume.apply.length;
  };

  const readFacts = async (tx: Queryer, turn: TurnRow): Promise<EndingRow> => {
    const key = { projectId: turn.project_id, agentTurnId: turn.agent_turn_id };
    const [facts] = await tx.query<EndingRow>(READ_ENDINGS, bindTurns([key]));
    return facts ?? { ord: 0, results: 0, thought: null, deliverable_card_id: null };
  };

  const planEnding = (
    ledger: Ledger,
    how: OutsideEnd,
    epoch: number,
    facts: EndingRow,
    means: LedgerMeans,
  ): TurnEnd => {
    const { turn } = ledger;
    const stepId = how.stopped ? stopStepIdOf(turn.agent_turn_id) : undefined;
    if (how.stopped)
      sayCard(
        ledger,
        createAgentErrorCard({
          cardId: means.ids.uuid(),
          projectId: turn.project_id,
          createdAt: new Date(means.nowMs).toISOString(),
          authorId: CARD_AUTHORS.stopHandler,
          extra: { agent_turn_id: turn.agent_turn_id, ...lineageMeta(contextOfTurn(turn, epoch, stepId)) },
          error: how.error,
        }),
        means,
      );
    return planEnd(
      ledger,
      {
        status: how.status,
        error: how.error,
        errorCode: how.errorCode,
        deliverable:
          facts.deliverable_card_id === null
            ? { source: how.source, headline: how.headline, reason: how.errorCode, facts }
            : { cardId: facts.deliverable_card_id },
        marks: how.stopped ? { stopReason: how.error } : undefined,
        stepId,
        stepCount: turn.step_count,
      },
      epoch,
      means,
    );
  };

  /** The head is held by the caller and is in this turn. */
  const endActive = async (tx: Queryer, head: HeadRow, turn: TurnRow, asked: OutsideEnd): Promise<EndedTurn> => {
    const means = meansOf(deps);
    const how = { ...asked, error: errorText(asked.error) };
    const epoch = head.turn_epoch + 1;
    await cancelCalls(tx, turn, how);
    await tx.query(CONSUME_ROWS, [turn.project_id, turn.agent_id, turn.agent_turn_id]);
    const known = await readFacts(tx, turn);
    const ledger = openLedger(turn, chainOfHead(head, turn, deps.sha256));
    const applied = head.status === "suspended" ? await applyAll(tx, ledger, head, means) : 0;
    const end = planEnding(ledger, how, epoch, { ...known, results: known.results + applied }, means);
    ledger.writes.messages.push(...(await failSteps(tx, turn, epoch, how.error, means)));
    if (how.stopped) endStopStep(ledger, stopStepIdOf(turn.agent_turn_id), how.error, epoch, means);
    ledger.writes.messages.push(stateEvent(turn, { status: "idle", epoch, metadata: { error: how.error } }, means));
    const agent = { projectId: turn.project_id, agentId: turn.agent_id };
    const queue = await tx.query<QueuedRow>(READ_QUEUED, bindAgents([agent]));
    const next = planDispatch(head, epoch, queue, means, { lastOutputBoxId: turn.output_box_id });
    // Its worker looks, finds its claim gone, and need not wait for its next heartbeat.
    if (next.dispatched === undefined)
      ledger.writes.wakeups.push(
        wakeupOf(turn, epoch, { reason: how.stopped ? "agent_idle" : "watchdog_forced_idle" }, means),
      );
    const written = await writeTurns(tx, mergeWrites([closeLedger(ledger), ...next.parts]), deps);
    return { end, ended: [end, ...next.ended], written };
  };

  /** A turn that waits behind another; its agent's head is held by the caller. */
  const endQueued = async (tx: Queryer, turn: TurnRow, asked: OutsideEnd): Promise<EndedTurn> => {
    const means = meansOf(deps);
    const how = { ...asked, error: errorText(asked.error) };
    await tx.query(SKIP_QUEUED, [turn.project_id, turn.agent_id, turn.agent_turn_id, how.error]);
    const ledger = openLedger(turn, chainOfTurn(turn, deps.sha256));
    const end = planEnding(ledger, how, 0, await readFacts(tx, turn), means);
    const written = await writeTurns(tx, closeLedger(ledger), deps);
    return { end, ended: [end], written };
  };

  return { endActive, endQueued };
};

export type EndTurn = ReturnType<typeof createEndTurn>;
