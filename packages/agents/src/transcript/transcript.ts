// The cards of a turn as the messages of one model call. Pure: the same cards give the same messages, in any process.
//   TR1. Every call of an assistant message is answered by exactly one tool message, right after it and in the order of the
//       calls; where no result was recorded a note says so.
//   TR2. A result without a call in this conversation (inherited from elsewhere) is shown as a message of its own.
//   TR3. A long result is an excerpt with a pointer; a result from outside is in a fence, whole or not (SEC-15).

import { CARD_TYPES, type Card, isTrustedActor } from "@toolplane/protocol";
import { type ModelMessage, projectCards, type ResultField } from "@toolplane/protocol/agents";
import { isToolName } from "@toolplane/protocol/registry";
import { type BudgetItem, fitBudget } from "./fit-budget.ts";
import { isResult } from "./long-cards.ts";
import { type ContextCards, orderContext } from "./order-context.ts";
import { type PairedCall, type Pairing, pairResults } from "./pair-results.ts";
import { READ_CARD } from "./read-card-name.ts";
import { isReading, showResult } from "./show-result.ts";
import { requiredFields, STRAY_PREFIX } from "./step-notes.ts";
import { resultTrust, type ToolTrust, UNKNOWN } from "./trust.ts";

export interface TranscriptLimits {
  /** The longest text of one result; beyond it an excerpt is shown. */
  readonly resultChars: number;
  /** What is left of a result when the whole transcript is too large. */
  readonly shortResultChars: number;
  readonly totalChars: number;
}

/** About 2000, 200 and 100,000 tokens: a result is read in pieces before it fills a window of today's models. */
export const TRANSCRIPT_LIMITS: TranscriptLimits = { resultChars: 8000, shortResultChars: 800, totalChars: 400_000 };

export interface TranscriptInput extends ContextCards {
  readonly agentId: string;
  /** By tool name; a tool it does not know is from outside. */
  readonly trustOf: (toolName: string) => ToolTrust;
  /** `read_card` is among the tools of this step. */
  readonly canReadMore: boolean;
  /** Our own sentences at the end: the step budget. */
  readonly notes?: readonly string[] | undefined;
  readonly limits?: Partial<TranscriptLimits> | undefined;
}

export interface Transcript {
  readonly messages: readonly ModelMessage[];
  /** What `read_card` may read. */
  readonly visible: ReadonlyMap<string, Card>;
  readonly resultFields: readonly ResultField[];
  /** The model reads a result from outside: whatever it writes may derive from it. */
  readonly hasExternal: boolean;
}

const NO_RESULT = "No result was recorded for this call. It may or may not have run; do not rely on it.";

interface Setting {
  readonly input: TranscriptInput;
  readonly limits: TranscriptLimits;
  readonly visible: ReadonlyMap<string, Card>;
}

/** A reading has the trust of the card that was read. */
const trustOfCard = (card: Card, { input, visible }: Setting): ToolTrust => {
  if (!isReading(card, input.agentId)) return resultTrust(card, input.trustOf, input.agentId);
  const result = card.content.__type__ === "ToolResultContent" ? card.content.result : null;
  if (result === null) return resultTrust(card, () => UNKNOWN, input.agentId);
  const id =
    typeof result === "object" && !Array.isArray(result) ? (result as Record<string, unknown>).card_id : undefined;
  const source = typeof id === "string" ? visible.get(id) : undefined;
  if (source === undefined || source.metadata.function_name === READ_CARD) return UNKNOWN;
  return source.tool_call_id === null ? UNKNOWN : resultTrust(source, input.trustOf, input.agentId);
};

/** What models write. */
const WRITTEN: ReadonlySet<string> = new Set([
  CARD_TYPES.agentThought,
  CARD_TYPES.taskDeliverable,
  CARD_TYPES.taskContext,
]);

/** What a turn is asked for. An agent's program may ask for a turn of the same agent, after reading whatever it read. */
const ASKED: ReadonlySet<string> = new Set([CARD_TYPES.taskInstruction, CARD_TYPES.taskResultFields]);

/**
 * A result from outside, a request of an agent, or the words of another agent: a model wrote them, after reading whatever it read.
 * Also a thought of its own from a step that had read such a card, which may be too old to be shown now.
 */
const isExternal = (card: Card, setting: Setting): boolean => {
  if (card.content.__type__ === "ToolResultContent") return trustOfCard(card, setting).trust === "external";
  if (ASKED.has(card.type)) return !isTrustedActor(card.author_id);
  if (card.metadata.external === true && card.type === CARD_TYPES.agentThought) return true;
  return WRITTEN.has(card.type) && card.author_id !== setting.input.agentId;
};

const textOf = (card: Card, limit: number, setting: Setting): string =>
  showResult(card, {
    limit,
    trust: trustOfCard(card, setting),
    agentId: setting.input.agentId,
    canReadMore: setting.input.canReadMore,
  });

const toolItem = (call: PairedCall, setting: Setting): BudgetItem => {
  const message = (content: string): ModelMessage => ({ role: "tool", tool_call_id: call.id, content });
  const { result } = call;
  if (result === undefined) return { message: message(NO_RESULT) };
  return {
    message: message(textOf(result, setting.limits.resultChars, setting)),
    shorten: () => message(textOf(result, setting.limits.shortResultChars, setting)),
  };
};

const assistantItems = (message: ModelMessage, calls: readonly PairedCall[], setting: Setting): BudgetItem[] => [
  {
    message: {
      ...message,
      role: "assistant",
      tool_calls: calls.map(({ id, name, arguments: text }) => ({
        id,
        type: "function",
        function: { name, arguments: text },
      })),
    },
  },
  ...calls.map((call) => toolItem(call, setting)),
];

const strayItem = (card: Card, setting: Setting): BudgetItem => {
  const name = card.metadata.function_name;
  const message = (limit: number): ModelMessage => ({
    role: "user",
    content: `${STRAY_PREFIX}${isToolName(name) ? name : "a tool"}:\n${textOf(card, limit, setting)}`,
  });
  return {
    message: message(setting.limits.resultChars),
    shorten: () => message(setting.limits.shortResultChars),
  };
};

const itemsOf = (card: Card, { calls, taken }: Pairing, setting: Setting): readonly BudgetItem[] => {
  if (taken.has(card.card_id) || card.type === CARD_TYPES.taskResultFields) return [];
  // Its message would be its whole text.
  if (isResult(card)) return [strayItem(card, setting)];
  const message = projectCards([card]).messages[0];
  if (message === undefined) return [];
  const own = calls.get(card.card_id);
  if (own !== undefined) return assistantItems(message, own, setting);
  return message.role === "tool" ? [strayItem(card, setting)] : [{ message }];
};

export const buildTranscript = (input: TranscriptInput): Transcript => {
  const cards = orderContext(input);
  const visible = new Map(cards.map((card) => [card.card_id, card]));
  const setting: Setting = { input, visible, limits: { ...TRANSCRIPT_LIMITS, ...input.limits } };
  const pairing = pairResults(cards);
  const notes = (input.notes ?? []).map((content): BudgetItem => ({ message: { role: "system", content } }));
  const items = [...cards.flatMap((card) => itemsOf(card, pairing, setting)), ...notes];
  return {
    messages: fitBudget(items, setting.limits.totalChars),
    visible,
    resultFields: requiredFields(input.contextCards),
    hasExternal: cards.some((card) => isExternal(card, setting)),
  };
};
