// What a turn's thinking used: counts of tokens and cost, added up over its thoughts.

import type { Card, JsonObject, JsonValue } from "@toolplane/protocol";

/** What later steps need of a turn's thoughts; their text is not held while a brain thinks. */
export type ThoughtNote = Pick<Card, "type" | "metadata">;

const NOTED = ["agent_turn_id", "llm_usage", "llm_response_cost", "prompt_card_id", "tools_card_id"] as const;

export const notesOf = (cards: readonly Card[]): readonly ThoughtNote[] =>
  cards
    .filter(({ type }) => type === "agent.thought")
    .map(({ type, metadata }) => ({
      type,
      metadata: Object.fromEntries(NOTED.flatMap((key) => (metadata[key] === undefined ? [] : [[key, metadata[key]]]))),
    }));

export interface TurnUsage {
  readonly usage: JsonObject;
  readonly cost: number | undefined;
}

/** Deeper than any provider nests its counts. */
const MAX_DEPTH = 4;

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Numbers are added up, and groups of numbers group by group; other values are left out. */
const add = (sum: JsonObject, more: JsonObject, depth = 0): JsonObject => {
  const total: Record<string, JsonValue> = { ...sum };
  for (const [key, value] of Object.entries(more)) {
    const before = Object.hasOwn(total, key) ? total[key] : undefined;
    if (typeof value === "number") total[key] = (typeof before === "number" ? before : 0) + value;
    else if (isObject(value) && depth < MAX_DEPTH) total[key] = add(isObject(before) ? before : {}, value, depth + 1);
  }
  return total;
};

const sumUsage = (
  cards: readonly ThoughtNote[],
  agentTurnId: string,
  last: { readonly usage?: JsonObject | undefined; readonly cost?: number | undefined } = {},
): TurnUsage => {
  const thoughts = cards.filter(
    ({ type, metadata }) => type === "agent.thought" && metadata.agent_turn_id === agentTurnId,
  );
  let usage: JsonObject = {};
  let cost: number | undefined;
  const take = (counts: JsonValue | undefined, price: JsonValue | undefined): void => {
    if (isObject(counts)) usage = add(usage, counts);
    if (typeof price === "number") cost = (cost ?? 0) + price;
  };
  for (const { metadata } of thoughts) take(metadata.llm_usage, metadata.llm_response_cost);
  take(last.usage, last.cost);
  return { usage, cost };
};

/** What a task event says about its turn, beside the duration. */
export const turnStats = (
  cards: readonly ThoughtNote[],
  agentTurnId: string,
  steps: number,
  last: { readonly usage?: JsonObject | undefined; readonly cost?: number | undefined } = {},
): JsonObject => {
  const { usage, cost } = sumUsage(cards, agentTurnId, last);
  return {
    step_count: steps,
    ...(Object.keys(usage).length === 0 ? {} : { llm_usage: usage }),
    ...(cost === undefined ? {} : { llm_response_cost: cost }),
  };
};

const countIn = (usage: JsonObject, key: string): number => {
  const count = usage[key];
  return typeof count === "number" ? count : 0;
};

/** The tokens of a turn so far. Providers say the whole, or its two parts. */
export const turnTokens = (cards: readonly ThoughtNote[], agentTurnId: string): number => {
  const { usage } = sumUsage(cards, agentTurnId);
  return countIn(usage, "total_tokens") || countIn(usage, "prompt_tokens") + countIn(usage, "completion_tokens");
};
