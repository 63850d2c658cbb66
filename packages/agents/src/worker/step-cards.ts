// The cards of a step. Each is written once, with the step (T3).
//   A thought names the prompt card and the tools card that its brain was shown. These rarely change: when an earlier thought of the
//   turn names a card with the same text, the step names that card and writes no new one.

import { type StepEntry, sha256, type Work } from "@toolplane/engine";
import {
  buildFailure,
  buildResult,
  type Card,
  type JsonObject,
  type JsonValue,
  storableText,
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
import type { ThoughtNote } from "./usage.ts";

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

/** The cards the brain was given: its thought names them, and the output box does not show them. */
export interface RequestCards {
  readonly promptCardId: string;
  readonly toolsCardId: string;
  /** Those that no earlier step of the turn has written. */
  readonly entries: readonly StepEntry[];
}

/** The id ends with the text's hash: two cards of a turn with the same ending have the same text. */
const HASH_LENGTH = 20;

const seenBefore = (
  output: readonly ThoughtNote[],
  agentTurnId: string,
  key: string,
  hash: string,
): string | undefined => {
  for (const { type, metadata } of output) {
    const id = type === "agent.thought" && metadata.agent_turn_id === agentTurnId ? metadata[key] : undefined;
    if (typeof id === "string" && id.endsWith(`_${hash}`)) return id;
  }
  return undefined;
};

export const requestCards = (
  { work, stepId, now }: CardMaker,
  output: readonly ThoughtNote[],
  system: string,
  tools: readonly ModelToolSpec[],
): RequestCards => {
  const { agentTurnId, projectId } = work;
  const entries: StepEntry[] = [];
  const cardOf = (key: string, kind: string, text: string, create: (cardId: string) => Card): string => {
    const hash = sha256(text).slice(0, HASH_LENGTH);
    const seen = seenBefore(output, agentTurnId, key, hash);
    if (seen !== undefined) return seen;
    const cardId = `${kind}_${stepId}_${hash}`;
    entries.push({ card: create(cardId), show: false });
    return cardId;
  };
  const text = storableText(system);
  const specs = tools as unknown as readonly JsonObject[];
  const origin = { projectId, createdAt: now };
  const promptCardId = cardOf("prompt_card_id", "prompt", text, (cardId) =>
    createRenderedPromptCard({ ...origin, cardId, text, profileId: work.profileBoxId }),
  );
  const toolsCardId = cardOf("tools_card_id", "tools", JSON.stringify(specs), (cardId) =>
    createToolsCard({ ...origin, cardId, tools: specs }),
  );
  return { promptCardId, toolsCardId, entries };
};

export interface ThoughtOptions extends Pick<RequestCards, "promptCardId" | "toolsCardId"> {
  readonly saveReasoning: boolean;
  /** What the brain wrote may derive from cards of external trust. */
  readonly external: boolean;
}

export const thoughtCard = (
  maker: CardMaker,
  answer: BrainAnswer,
  calls: readonly AskedCall[],
  { saveReasoning, external, promptCardId, toolsCardId }: ThoughtOptions,
): Card => {
  const { reasoning, usage, cost, model } = answer;
  return createThoughtCard({
    ...originOf(maker),
    agentTurnId: maker.work.agentTurnId,
    text: answer.text,
    toolCalls: calls.map(({ shown }) => shown),
    reasoningContent: saveReasoning ? reasoning : undefined,
    lineage: lineageOf(maker),
    // The next step adds usage up from here, without reading the steps again.
    extra: {
      prompt_card_id: promptCardId,
      tools_card_id: toolsCardId,
      // Later steps read it here, when the card from outside is older than what they read (SEC-15).
      external,
      ...(usage === undefined ? {} : { llm_usage: usage }),
      ...(cost === undefined ? {} : { llm_response_cost: cost }),
      ...(model === undefined ? {} : { llm_model: model }),
    },
  });
};

export const reminderCard = (maker: CardMaker, text: string): Card =>
  createMustEndWithCard({ ...originOf(maker), text, lineage: lineageOf(maker) });

/** Results of built-in tools belong to the agent: they have no call to settle and no tool.call card. */
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
