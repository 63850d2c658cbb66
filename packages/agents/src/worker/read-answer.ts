// A brain's answer in a form that a step can store. A brain may be a user's function: text that cannot be stored is repaired
// where nothing important is lost, and a value that is no answer ends the turn with a sentence that says so.

import { copyJson, isRecord, type JsonObject, storableText, ToolplaneError } from "@toolplane/protocol";
import type { BrainAnswer } from "../brains/brain.ts";

/** The limit for its counts, in bytes of JSON: they travel in every event of the step. */
const MAX_USAGE_BYTES = 8 * 1024;
const MAX_MODEL_CHARS = 200;
/** As much as fits into one card beside everything else. */
const MAX_REASONING_CHARS = 96 * 1024;

const cut = (text: string, length: number): string => storableText(text.slice(0, length));

const asCounts = (usage: unknown): JsonObject | undefined => {
  try {
    const copy = isRecord(usage) ? copyJson(usage, { maxBytes: MAX_USAGE_BYTES }) : undefined;
    return isRecord(copy) ? (copy as JsonObject) : undefined;
  } catch {
    // These are numbers for people, so a bad one never fails a turn.
    return undefined;
  }
};

export const readAnswer = (answer: unknown): BrainAnswer => {
  if (!isRecord(answer) || typeof answer.text !== "string" || !Array.isArray(answer.toolCalls))
    throw new ToolplaneError("internal_error", "the brain's answer has no text or no list of toolCalls");
  const { text, reasoning, toolCalls, usage, cost, model } = answer;
  return {
    text: storableText(text),
    toolCalls: toolCalls as BrainAnswer["toolCalls"],
    reasoning: typeof reasoning === "string" ? cut(reasoning, MAX_REASONING_CHARS) : undefined,
    usage: asCounts(usage),
    cost: typeof cost === "number" && Number.isFinite(cost) ? cost : undefined,
    model: typeof model === "string" ? cut(model, MAX_MODEL_CHARS) : undefined,
  };
};
