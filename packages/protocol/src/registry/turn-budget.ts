// What a turn may use up. A profile says it for all turns of its agents, a request for one turn.

import { z } from "zod";

/** Beyond these a number is a mistake: a thousand steps, a month. */
const MAX_STEPS = 1_000;
const MAX_SECONDS = 31 * 86_400;

export const turnBudgetSchema = z
  .strictObject({
    /** Rounds of thinking. */
    steps: z.int().min(1).max(MAX_STEPS).optional(),
    /** Tokens of the model, of questions and answers together. */
    tokens: z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
    /** Counted from the moment the turn begins; waiting behind another turn costs nothing. */
    seconds: z.number().min(1).max(MAX_SECONDS).optional(),
  })
  .readonly();

export type TurnBudget = z.infer<typeof turnBudgetSchema>;

/** A budget as it was stored; what cannot be read is not a budget. */
export const readTurnBudget = (stored: unknown): TurnBudget => {
  const read = turnBudgetSchema.safeParse(stored);
  return read.success ? read.data : {};
};
