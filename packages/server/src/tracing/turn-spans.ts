// The spans of a turn: the turn under the span id of its traceparent, its steps, the questions to its model, and its resumptions. A
// delegated turn hangs under the step that delegated it. A task of a batch begins a trace of its own, with a link to the step's.

import type { ModelCall, StepRun, TurnDone } from "@toolplane/agents";
import type { Work } from "@toolplane/engine";
import { tryParseTraceparent } from "@toolplane/protocol";
import { type Span, spanIdOf } from "./span.ts";

const turnSpanId = ({ traceId, traceparent, agentTurnId }: Work): string =>
  tryParseTraceparent(traceparent)?.spanId ?? spanIdOf(traceId, agentTurnId);

const attributesOf = (work: Work): Span["attributes"] => ({
  "cg.project_id": work.projectId,
  "cg.agent_id": work.agentId,
  "cg.agent_turn_id": work.agentTurnId,
});

export const planTurnSpan = (work: Work, { status, errorCode, at }: TurnDone): Span => {
  const { traceId, parentStepId, parentTraceparent } = work;
  const isOwnTrace = tryParseTraceparent(parentTraceparent)?.traceId !== undefined;
  return {
    traceId,
    spanId: turnSpanId(work),
    parentId: parentStepId === undefined || isOwnTrace ? undefined : spanIdOf(traceId, parentStepId),
    name: "turn",
    startMs: Math.min(work.turnCreatedAtMs, at),
    endMs: at,
    attributes: { ...attributesOf(work), "toolplane.status": status, "toolplane.steps": work.stepCount },
    link: isOwnTrace ? parentTraceparent : undefined,
    error: status === "success" ? undefined : (errorCode ?? status),
  };
};

export const planResumeSpan = (work: Work, at: number): Span => ({
  traceId: work.traceId,
  spanId: spanIdOf(work.traceId, `${work.agentTurnId}/${work.turnEpoch}/resume`),
  parentId: turnSpanId(work),
  name: "resume",
  startMs: Math.min(work.inboxCreatedAtMs, at),
  endMs: at,
  attributes: { ...attributesOf(work), "cg.turn_epoch": work.turnEpoch },
});

export const planStepSpan = (work: Work, { stepId, beganAt, endedAt }: StepRun): Span => ({
  traceId: work.traceId,
  spanId: spanIdOf(work.traceId, stepId),
  parentId: turnSpanId(work),
  name: "step",
  startMs: beganAt,
  endMs: endedAt,
  attributes: { ...attributesOf(work), "cg.step_id": stepId },
});

export const planModelSpan = (work: Work, { stepId, model, beganAt, endedAt, error }: ModelCall): Span => ({
  traceId: work.traceId,
  spanId: spanIdOf(work.traceId, `${stepId}/model`),
  parentId: spanIdOf(work.traceId, stepId),
  name: "model call",
  startMs: beganAt,
  endMs: endedAt,
  attributes: { "cg.step_id": stepId, "gen_ai.response.model": model },
  error,
});
