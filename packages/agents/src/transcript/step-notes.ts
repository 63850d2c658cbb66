// What this system tells a model between steps: the budget is ending, the turn must end with a tool, fields are required.

import { CARD_TYPES, type Card } from "@toolplane/protocol";
import type { ModelToolSpec, ResultField } from "@toolplane/protocol/agents";
import { SUBMIT_RESULT } from "@toolplane/protocol/registry";

/** Marks our own sentences where a provider has no system role inside a conversation. */
export const NOTE_PREFIX = "System note: ";

/** How a result is introduced that belongs to no call of the conversation. */
export const STRAY_PREFIX = "An earlier result of ";

export interface StepBudget {
  readonly alert?: string | undefined;
  readonly tools: readonly ModelToolSpec[];
}

/** With two steps left the model is warned; in the last one it may only hand in its result, if it can. */
export const planStepBudget = (
  tools: readonly ModelToolSpec[],
  maxSteps: number,
  committedSteps: number,
): StepBudget => {
  const remaining = maxSteps - committedSteps;
  if (remaining > 2 || remaining < 1) return { tools };
  const submit = tools.filter((tool) => tool.function.name === SUBMIT_RESULT);
  const howToEnd = submit.length > 0 ? `call ${SUBMIT_RESULT}` : "answer without calling a tool";
  if (remaining === 2) {
    return {
      tools,
      alert: `Two steps are left, this one included. Finish: ${howToEnd} in the next step at the latest.`,
    };
  }
  return {
    tools: submit.length > 0 ? submit : tools,
    alert: `This is the last step. Now ${howToEnd} with what you have; anything else ends the task as failed.`,
  };
};

export const mustEndWithText = (names: readonly string[]): string =>
  names.length === 1
    ? `The task is not finished: it must end with a call of ${names[0]}. Call it now.`
    : `The task is not finished: it must end with a call of one of ${names.join(", ")}. Call one of them now.`;

/**
 * The newest list of required fields; the others are superseded. So is a list of an earlier turn of the conversation: the turn that
 * goes on has an instruction of its own.
 */
export const requiredFields = (cards: readonly Card[]): readonly ResultField[] => {
  for (let at = cards.length - 1; at >= 0; at--) {
    const card = cards[at];
    if (card?.type !== CARD_TYPES.taskResultFields || card.content.__type__ !== "FieldsSchemaContent") continue;
    const turnId = card.metadata.agent_turn_id;
    const isPast = cards
      .slice(at + 1)
      .some(({ type, metadata }) => type === CARD_TYPES.taskInstruction && metadata.agent_turn_id !== turnId);
    return isPast ? [] : card.content.fields;
  }
  return [];
};
