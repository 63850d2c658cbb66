// The row of a step as a transaction writes it: what its turn says about it, and what changes now. What is null stays as it is.

import type { TurnRow } from "./turn-row.ts";
import type { StepWrite } from "./turn-write-rows.sql.ts";

type StepChange = Pick<StepWrite, "stepId" | "status" | "ended"> & Partial<StepWrite>;

export const stepOf = (turn: TurnRow, change: StepChange): StepWrite => ({
  projectId: turn.project_id,
  agentId: turn.agent_id,
  agentTurnId: turn.agent_turn_id,
  channelId: turn.channel_id,
  parentStepId: turn.parent_step_id,
  traceId: turn.trace_id,
  toolCallIds: null,
  newCardIds: null,
  error: null,
  metadata: null,
  requestHash: null,
  outcome: null,
  ...change,
});
