// What an agent was asked and did, step by step: its instruction, its thoughts, its calls with arguments and results. Made of the
// cards of the turn's two boxes, for people: long texts are cut.

import { type CallView, type Engine, fillBoxes, longIn, type StepView, type TurnView } from "@toolplane/engine";
import { CARD_TYPES, type Card, isRecord } from "@toolplane/protocol";
import { parametersOf, planShownArguments } from "../calls/shown-arguments.ts";
import { cutText, shortCard, shortValue } from "./story-cards.ts";

const textOf = ({ content }: Card): string => {
  if (content.__type__ === "TextContent") return content.text;
  return content.__type__ === "JsonContent" ? JSON.stringify(content.data) : "";
};

export interface StoryCall {
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly arguments: unknown;
  /** It was never sent, or the worker did it itself: there is no call with this id to look up. */
  readonly local?: true;
  /** Null while there is no result. */
  readonly status: string | null;
  readonly result?: unknown;
  readonly error?: unknown;
  readonly asked_at: string;
  readonly answered_at: string | null;
}

export interface StoryStep {
  readonly thought: string | null;
  readonly calls: readonly StoryCall[];
}

type ShowArguments = (card: Card) => unknown;

const resultOf = (card: Card | undefined) => {
  if (card?.content.__type__ !== "ToolResultContent") return { status: null, answered_at: null };
  const { status, result, error } = card.content;
  return {
    status,
    answered_at: card.created_at,
    ...(error === null ? { result: shortValue(result) } : { error: shortValue(error) }),
  };
};

const nameOf = (card: Card): string => {
  if (card.content.__type__ === "ToolCallContent") return card.content.tool_name;
  const { function_name: name } = card.metadata;
  return typeof name === "string" ? name : "?";
};

/** A tool of the worker itself has no call card: its arguments are in the thought that asked for it. */
const localArguments = (thought: Card | undefined, providerId: unknown): unknown => {
  const asked = (thought?.tool_calls ?? []).find((call) => isRecord(call) && call.id === providerId);
  const said = isRecord(asked) && isRecord(asked.function) ? asked.function.arguments : undefined;
  return typeof said === "string" ? cutText(said) : null;
};

/** Pure: the thought and the calls of one step, from the cards of the turn. */
const planStoryStep = (
  { stepId, toolCallIds }: Pick<StepView, "stepId" | "toolCallIds">,
  cards: readonly Card[],
  show: ShowArguments,
): StoryStep => {
  const own = cards.filter(({ metadata }) => metadata.step_id === stepId);
  const thought = own.find(({ type }) => type === CARD_TYPES.agentThought);
  const called = own.filter(({ type }) => type === CARD_TYPES.toolCall);
  const results = new Map(
    cards.flatMap((card) => (card.type === CARD_TYPES.toolResult ? [[card.tool_call_id, card] as const] : [])),
  );
  const known = new Set(called.map(({ tool_call_id }) => tool_call_id));
  const local = own.filter((card) => card.type === CARD_TYPES.toolResult && !known.has(card.tool_call_id));
  return {
    thought: thought === undefined ? null : cutText(textOf(thought)),
    calls: [
      ...called.map((card) => ({
        tool_call_id: card.tool_call_id ?? "",
        tool_name: nameOf(card),
        arguments: shortValue(show(card)),
        asked_at: card.created_at,
        ...(toolCallIds.includes(card.tool_call_id ?? "") ? {} : { local: true as const }),
        ...resultOf(results.get(card.tool_call_id)),
      })),
      ...local.map((card) => ({
        tool_call_id: card.tool_call_id ?? "",
        tool_name: nameOf(card),
        arguments: localArguments(thought, card.metadata.provider_tool_call_id),
        asked_at: card.created_at,
        local: true as const,
        ...resultOf(card),
      })),
    ],
  };
};

type CallTimes = ReadonlyMap<string, Pick<CallView, "createdAt" | "settledAt">>;

/** A call's times are its row's, as everywhere; those of its cards count when retention has forgotten the row. */
const withTimes = (step: StoryStep, times: CallTimes): StoryStep => ({
  ...step,
  calls: step.calls.map((call) => {
    const known = times.get(call.tool_call_id);
    if (known === undefined) return call;
    return { ...call, asked_at: known.createdAt.toISOString(), answered_at: known.settledAt?.toISOString() ?? null };
  }),
});

/** The newest instruction of the context box is the turn's own: what it inherits comes first. */
const planInstruction = (context: readonly Card[]): string | null => {
  const card = context.findLast(({ type }) => type === CARD_TYPES.taskInstruction);
  return card === undefined ? null : cutText(textOf(card));
};

export interface TurnStory {
  readonly instruction: string | null;
  readonly steps: ReadonlyMap<string, StoryStep>;
}

export const readStory = async (
  engine: Pick<Engine, "turns" | "definitions" | "calls">,
  turn: TurnView,
  steps: readonly StepView[],
  forAgent: boolean,
): Promise<TurnStory> => {
  const [listed = { context: [], output: [] }] = await engine.turns.readBoxes([turn]);
  const kept = await engine.turns.readLong(turn.projectId, longIn(listed), { keep: shortCard });
  const { context, output } = fillBoxes(listed, kept);
  const own = output.filter(({ metadata }) => metadata.agent_turn_id === turn.agentTurnId);
  const shown = new Map<string, unknown>();
  for (const card of own) {
    if (card.type !== CARD_TYPES.toolCall) continue;
    const version = card.metadata.tool_version;
    const made = { projectId: turn.projectId, toolName: nameOf(card) };
    const parameters =
      typeof version === "number" ? await parametersOf(engine, { ...made, toolVersion: version }) : undefined;
    shown.set(card.card_id, planShownArguments(card, parameters, forAgent)?.arguments);
  }
  const asked = steps.flatMap(({ toolCallIds }) => toolCallIds);
  const found = await engine.calls.find(asked.map((toolCallId) => ({ projectId: turn.projectId, toolCallId })));
  const times = new Map(found.map((call) => [call.toolCallId, call]));
  const show: ShowArguments = ({ card_id: id }) => shown.get(id);
  return {
    instruction: planInstruction(context),
    steps: new Map(steps.map((step) => [step.stepId, withTimes(planStoryStep(step, own, show), times)])),
  };
};
