// The cards of a step. Each is written once, with the step (T3 of turns).
//   The prompt and the list of tools of a turn rarely change from step to step. Their cards' ids and times are made from
//   the turn and the text, so the same text again is the same card, which is written once (I7).

import { type StepEntry, sha256, type Work } from "@toolplane/engine";
import {
  buildFailure,
  buildResult,
  type Card,
  type JsonObject,
  type JsonValue,
  type ToolplaneError,
  type ToolResultContent,
} from "@toolplane/protocol";
import {
  createMustEndWithCard,
  createRenderedPromptCard,
  createThoughtCard,
  createToolsCard,
  type ModelToolSpec,
} from "@toolplane/protocol/agents";
import type { BrainAnswer } from "../brains/brain.ts";
import type { AskedCall } from "./asked-calls.ts";
import { storableText } from "./storable-text.ts";

export interface CardMaker {
  readonly work: Work;
  readonly stepId: string;
  readonly now: string;
  readonly cardId: () => string;
}

const lineageOf = ({ work, stepId }: CardMaker): JsonObject => ({
  step_id: stepId,
  trace_id: work.traceId,
  ...(work.parentStepId === undefined ? {} : { parent_step_id: work.parentStepId }),
});

const originOf = ({ work, now, cardId }: CardMaker) => ({
  cardId: cardId(),
  projectId: work.projectId,
  createdAt: now,
  authorId: work.agentId,
});

/** What the brain was given; kept out of the output box. */
export const requestCards = (
  { work }: CardMaker,
  system: string,
  tools: readonly ModelToolSpec[],
): readonly StepEntry[] => {
  const { agentTurnId, projectId, profileBoxId } = work;
  const createdAt = new Date(work.turnCreatedAtMs).toISOString();
  const idOf = (kind: string, text: string): string => `${kind}_${sha256(`${agentTurnId}\n${text}`).slice(0, 32)}`;
  const text = storableText(system);
  const specs = tools as unknown as readonly JsonObject[];
  const prompt = createRenderedPromptCard({
    cardId: idOf("prompt", text),
    projectId,
    createdAt,
    text,
    profileId: profileBoxId,
  });
  const offered = createToolsCard({ cardId: idOf("tools", JSON.stringify(specs)), projectId, createdAt, tools: specs });
  return [
    { card: prompt, show: false },
    { card: offered, show: false },
  ];
};

export interface ThoughtOptions {
  readonly saveReasoning: boolean;
}

export const thoughtCard = (
  maker: CardMaker,
  answer: BrainAnswer,
  calls: readonly AskedCall[],
  { saveReasoning }: ThoughtOptions,
): Card => {
  const { reasoning, usage, cost, model } = answer;
  return createThoughtCard({
    ...originOf(maker),
    agentTurnId: maker.work.agentTurnId,
    text: storableText(answer.text),
    toolCalls: calls.map(({ shown }) => shown),
    reasoningContent: saveReasoning && reasoning !== undefined ? storableText(reasoning) : undefined,
    lineage: lineageOf(maker),
    // The next step adds them up from here, without reading the steps again.
    extra: {
      ...(usage === undefined ? {} : { llm_usage: usage }),
      ...(cost === undefined ? {} : { llm_response_cost: cost }),
      ...(model === undefined ? {} : { llm_model: storableText(model) }),
    },
  });
};

export const reminderCard = (maker: CardMaker, text: string): Card =>
  createMustEndWithCard({ ...originOf(maker), text, lineage: lineageOf(maker) });

/** Results of built-in tools are the agent's own: there is no call to settle, and no tool.call card. */
const resultContext = (
  maker: CardMaker,
  call: AskedCall,
  index: number,
  after: ToolResultContent["after_execution"],
) => ({
  cardId: maker.cardId(),
  createdAt: maker.now,
  projectId: maker.work.projectId,
  agentTurnId: maker.work.agentTurnId,
  toolCallId: `tc_${maker.stepId}_${index + 1}`,
  authorId: maker.work.agentId,
  toolName: call.name,
  afterExecution: after,
  toolCallMetadata: lineageOf(maker),
  extra: { provider_tool_call_id: call.alias },
  source: "worker" as const,
});

export const localResultCard = (maker: CardMaker, call: AskedCall, index: number, result: JsonValue): Card =>
  buildResult(resultContext(maker, call, index, "suspend"), { status: "success", result }).card;

export const localFailureCard = (maker: CardMaker, call: AskedCall, index: number, error: ToolplaneError): Card =>
  buildFailure(resultContext(maker, call, index, "suspend"), error).card;

export const submittedCard = (maker: CardMaker, call: AskedCall): Card =>
  buildResult(resultContext(maker, call, 0, "terminate"), { status: "success", result: { accepted: true } }).card;
