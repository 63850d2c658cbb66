// A trace as one tree: a turn has steps, a step has calls and the turns that came of it. What has no parent here is a root. Pure.

import type { CallView, StepView, Trace, TurnView } from "@toolplane/engine";
import { z } from "zod";
import { type BodyOf, text, textOrNull, timeOrNull } from "../http/answers.ts";

export const traceNodeBody = z
  .strictObject({
    kind: z.enum(["turn", "step", "call"]),
    id: text,
    name: textOrNull.meta({ description: "The agent of a turn, the tool of a call." }),
    status: text,
    error_code: textOrNull,
    started_at: timeOrNull,
    ended_at: timeOrNull,
    get children() {
      return z.array(traceNodeBody);
    },
  })
  .meta({ id: "TraceNode" });

export type TraceNode = BodyOf<typeof traceNodeBody>;

const byStart = (a: TraceNode, b: TraceNode): number =>
  (a.started_at ?? "").localeCompare(b.started_at ?? "") || a.id.localeCompare(b.id);

const callNode = (call: CallView): TraceNode => ({
  kind: "call",
  id: call.toolCallId,
  name: call.toolName,
  status: call.status,
  error_code: call.errorCode,
  started_at: call.createdAt.toISOString(),
  ended_at: call.settledAt?.toISOString() ?? null,
  children: [],
});

export const planTree = ({ turns, steps, calls }: Trace): readonly TraceNode[] => {
  const known = new Set(turns.map(({ agentTurnId }) => agentTurnId));
  const stepIds = new Set(steps.map(({ stepId }) => stepId));
  const stepsOf = Map.groupBy(steps, ({ agentTurnId }) => agentTurnId);
  const callsOf = Map.groupBy(calls, ({ stepId }) => stepId);
  const isChild = ({ parentAgentTurnId }: TurnView): boolean =>
    parentAgentTurnId !== null && known.has(parentAgentTurnId);
  /** A turn whose parent's step is not known hangs under its parent's turn. */
  const underOf = ({ parentStepId, parentAgentTurnId }: TurnView): string =>
    parentStepId !== null && stepIds.has(parentStepId) ? parentStepId : (parentAgentTurnId ?? "");
  const turnsUnder = Map.groupBy(turns.filter(isChild), underOf);
  const turnNodes = (under: string): readonly TraceNode[] => (turnsUnder.get(under) ?? []).map(turnNode);

  const stepNode = (step: StepView): TraceNode => ({
    kind: "step",
    id: step.stepId,
    name: null,
    status: step.status,
    error_code: null,
    started_at: step.startedAt,
    ended_at: step.endedAt,
    children: [...(callsOf.get(step.stepId) ?? []).map(callNode), ...turnNodes(step.stepId)].sort(byStart),
  });

  const turnNode = (turn: TurnView): TraceNode => ({
    kind: "turn",
    id: turn.agentTurnId,
    name: turn.agentId,
    status: turn.status,
    error_code: turn.errorCode,
    started_at: turn.createdAt,
    ended_at: turn.endedAt,
    children: [...(stepsOf.get(turn.agentTurnId) ?? []).map(stepNode), ...turnNodes(turn.agentTurnId)].sort(byStart),
  });

  const alone = calls.filter(({ stepId }) => !stepIds.has(stepId)).map(callNode);
  return [...turns.filter((turn) => !isChild(turn)).map(turnNode), ...alone].sort(byStart);
};
