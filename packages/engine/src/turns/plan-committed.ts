// What becomes of a step that was planned: suspended on its calls, or over when it has none. Pure except for the ids and the time that
// are passed in.

import type { JsonObject } from "@toolplane/protocol";
import type { DispatchRow } from "../calls/dispatch.sql.ts";
import type { HeldWork } from "./claimed-work.ts";
import type { Ledger, LedgerMeans } from "./ledger.ts";
import { headInTurn, inboxChange, turnGoesOn } from "./plan-head.ts";
import { resumeDeadline } from "./plan-resume.ts";
import type { PlannedStep } from "./plan-step.ts";
import { storedOutcome } from "./step-outcome.ts";
import { stepOf } from "./step-row.ts";
import type { CommittedStep, StepCommit, Work } from "./turn.ts";
import { stateEvent, stepEvent } from "./turn-messages.ts";
import type { StepWrite } from "./turn-write-rows.sql.ts";
import { storableJson } from "./turn-writes.ts";

export interface AskedStep {
  readonly work: Work;
  readonly step: StepCommit;
  readonly hash: string;
}

const stepRow = (
  ledger: Ledger,
  step: StepCommit,
  done: CommittedStep,
  planned: PlannedStep,
  hash: string,
): StepWrite =>
  stepOf(ledger.turn, {
    stepId: step.stepId,
    status: done.next === "suspended" ? "suspended" : "completed",
    toolCallIds: JSON.stringify(planned.rows.map(({ row }) => row.toolCallId)),
    newCardIds: JSON.stringify(ledger.said),
    metadata: step.metadata === undefined ? null : storableJson(step.metadata),
    requestHash: hash,
    outcome: storedOutcome(done),
    ended: done.next === "running",
  });

/** For a plain service the time counts from the dispatch, for any other from its lease. */
const secondsAtMost = ({ plain, timeoutSeconds, queueTimeoutSeconds }: DispatchRow): number =>
  plain ? timeoutSeconds : queueTimeoutSeconds + timeoutSeconds;

/** Adds what a planned step becomes to its ledger: its row, the head, and what is told of it. */
export const planCommitted = (
  ledger: Ledger,
  { step, hash, work }: AskedStep,
  held: HeldWork,
  planned: PlannedStep,
  means: LedgerMeans,
): CommittedStep => {
  const { turn, head } = held;
  const { writes } = ledger;
  const epoch = head.turn_epoch;
  const waiting = planned.rows.length;
  const done: CommittedStep = {
    next: waiting > 0 ? "suspended" : "running",
    calls: planned.calls,
    stepCount: turn.step_count + 1,
  };
  writes.steps.push(stepRow(ledger, step, done, planned, hash));
  writes.turns.push(turnGoesOn(turn, epoch, { stepCount: done.stepCount }));
  const { resumeSeconds } = step;
  writes.heads.push(headInTurn(turn, { status: done.next, epoch, waiting, chain: ledger.chain, resumeSeconds }));
  const metadata = step.metadata === undefined ? undefined : (JSON.parse(storableJson(step.metadata)) as JsonObject);
  const event = { stepId: step.stepId, metadata, newCardIds: ledger.said };
  if (done.next === "running") {
    writes.messages.push(stepEvent(turn, epoch, { ...event, phase: "completed" }, means));
    if (step.blocked === true || done.calls.some(({ refusal }) => refusal?.code === "inbox_not_empty")) {
      const metadata = { activity: "waiting_for_inbox_drain" };
      writes.messages.push(stateEvent(turn, { status: "running", epoch, metadata, more: step.stepId }, means));
    }
    return done;
  }
  writes.changes.push(inboxChange({ projectId: turn.project_id, inboxId: work.inboxId }, { status: "consumed" }));
  if (metadata?.timing !== undefined)
    writes.messages.push(stepEvent(turn, epoch, { ...event, phase: "executing" }, means));
  const suspension = {
    activity: "awaiting_tool_result",
    waiting_tool_count: waiting,
    waiting_tool_call_ids: planned.rows.map(({ row }) => row.toolCallId),
    ...resumeDeadline(planned.rows.map(({ row }) => head.now_ms + secondsAtMost(row) * 1000)),
  };
  writes.messages.push(stateEvent(turn, { status: "suspended", epoch, metadata: suspension }, means));
  return done;
};
