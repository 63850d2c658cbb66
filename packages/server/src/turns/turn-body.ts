// A turn as the API shows it, whichever way it was asked for.

import { type AskedTurn, type Engine, notThere, type StepView, type TurnView } from "@toolplane/engine";
import type { Card, ToolplaneError } from "@toolplane/protocol";
import { z } from "zod";
import { anyObject, type BodyOf, text, textOrNull, time, timeOrNull } from "../http/answers.ts";
import { TURN_STATUSES } from "../http/statuses.ts";
import type { PlaneProcesses } from "../up/plane-processes.ts";
import { explainTurn } from "../why/explain-turn.ts";
import { readStory } from "./turn-story.ts";

const turnFields = {
  agent_turn_id: text,
  agent_id: text,
  source_agent_id: text,
  kind: z.enum(["turn", "ui_action"]),
  status: z.enum(TURN_STATUSES),
  turn_epoch: z.int(),
  step_count: z.int(),
  waiting_tool_count: z.int(),
  channel_id: text,
  correlation_id: text,
  recursion_depth: z.int(),
  trace_id: text,
  parent_agent_id: textOrNull,
  parent_agent_turn_id: textOrNull,
  parent_step_id: textOrNull,
  continues: textOrNull,
  profile_box_id: text,
  context_box_id: text,
  output_box_id: text,
  deliverable_card_id: textOrNull,
  error: z.strictObject({ code: text, message: text }).nullable(),
  created_at: time,
  dispatched_at: timeOrNull,
  ended_at: timeOrNull,
};

/** A turn in a list. */
export const turnShape = z.strictObject(turnFields).meta({ id: "Turn" });

/** The answer to a request for a turn. */
export const askedTurnBody = z
  .strictObject({ ...turnFields, deliverable: z.unknown(), idempotent: z.boolean() })
  .meta({ id: "AskedTurn" });

const storyCall = z.strictObject({
  tool_call_id: text,
  tool_name: text,
  arguments: z.unknown(),
  local: z.literal(true).optional(),
  status: textOrNull,
  result: z.unknown().optional(),
  error: z.unknown().optional(),
  asked_at: time,
  answered_at: timeOrNull,
});

export const stepFields = {
  step_id: text,
  status: text,
  tool_call_ids: z.array(text),
  error: textOrNull,
  metadata: anyObject,
  started_at: time,
  ended_at: timeOrNull,
};

/** A turn that is looked at alone; `instruction`, `thought` and `calls` with `detail=full`. */
export const turnDetailBody = z
  .strictObject({
    ...turnFields,
    deliverable: z.unknown(),
    instruction: textOrNull.optional(),
    why: textOrNull,
    todo: textOrNull,
    steps: z.array(
      z.strictObject({ ...stepFields, thought: textOrNull.optional(), calls: z.array(storyCall).optional() }),
    ),
  })
  .meta({ id: "TurnDetail" });

export const turnBody = (turn: TurnView): BodyOf<typeof turnShape> => ({
  agent_turn_id: turn.agentTurnId,
  agent_id: turn.agentId,
  source_agent_id: turn.sourceAgentId,
  kind: turn.kind,
  status: turn.status,
  turn_epoch: turn.turnEpoch,
  step_count: turn.stepCount,
  waiting_tool_count: turn.waitingCount,
  channel_id: turn.channelId,
  correlation_id: turn.correlationId,
  recursion_depth: turn.recursionDepth,
  trace_id: turn.traceId,
  parent_agent_id: turn.parentAgentId,
  parent_agent_turn_id: turn.parentAgentTurnId,
  parent_step_id: turn.parentStepId,
  continues: turn.continues,
  profile_box_id: turn.profileBoxId,
  context_box_id: turn.contextBoxId,
  output_box_id: turn.outputBoxId,
  deliverable_card_id: turn.deliverableCardId,
  error: turn.error === null ? null : { code: turn.errorCode ?? "internal_error", message: turn.error },
  created_at: turn.createdAt,
  dispatched_at: turn.dispatchedAt,
  ended_at: turn.endedAt,
});

/** The turn's deliverable: a text, or a document. */
const deliverableOf = (card: Card | undefined): unknown => {
  if (card?.content.__type__ === "TextContent") return card.content.text;
  return card?.content.__type__ === "JsonContent" ? card.content.data : null;
};

const detailOf = async (engine: Pick<Engine, "cards">, turn: TurnView) => {
  const [card] = await engine.cards.getCards(turn.projectId, [turn.deliverableCardId]);
  return { ...turnBody(turn), deliverable: deliverableOf(card) };
};

const noTurn = (turnId: string): ToolplaneError => notThere("turn", turnId, undefined);

/** The answer to a request for a turn; its deliverable is read only if this process did not write it. */
export const askedDetail = async (
  engine: Pick<Engine, "cards">,
  { spawned, turn, deliverable }: AskedTurn,
): Promise<BodyOf<typeof askedTurnBody>> => {
  if (turn === undefined) throw noTurn(spawned.agentTurnId);
  const { idempotent } = spawned;
  return deliverable === undefined
    ? { ...(await detailOf(engine, turn)), idempotent }
    : { ...turnBody(turn), deliverable: deliverableOf(deliverable), idempotent };
};

export interface TurnReading {
  readonly engine: Pick<Engine, "turns" | "cards" | "agents" | "calls" | "history" | "definitions">;
  readonly processes: PlaneProcesses;
  /** Also what was said and done, for this reader. */
  readonly story?: { readonly forAgent: boolean } | undefined;
}

export const stepBody = (step: StepView) => ({
  step_id: step.stepId,
  status: step.status,
  tool_call_ids: step.toolCallIds,
  error: step.error,
  metadata: step.metadata,
  started_at: step.startedAt,
  ended_at: step.endedAt,
});

/** The turn with its steps and what it waits for; with a wait for its end, if one is given. */
export const readTurn = async (
  { engine, processes, story: asked }: TurnReading,
  key: { readonly projectId: string; readonly agentTurnId: string },
  waitMs: number,
  signal?: AbortSignal,
): Promise<BodyOf<typeof turnDetailBody>> => {
  const turn = waitMs <= 0 ? await engine.turns.get(key) : await engine.turns.wait(key, waitMs, signal);
  if (turn === undefined) throw notThere("turn", key.agentTurnId, await engine.history.tombstone(key));
  const taken = await engine.turns.steps(key);
  const story = asked && (await readStory(engine, turn, taken, asked.forAgent));
  const steps = taken.map((step) => ({
    ...stepBody(step),
    ...story?.steps.get(step.stepId),
  }));
  const explained = await explainTurn(engine, turn, taken, processes);
  const said = story === undefined ? {} : { instruction: story.instruction };
  return { ...(await detailOf(engine, turn)), ...said, ...explained, steps };
};
