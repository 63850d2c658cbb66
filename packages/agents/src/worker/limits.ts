// The limits of a machine. Profiles and requests say how many steps a turn has (budget.ts); the others belong to the operator.

import { DEFAULT_MAX_RECURSION_DEPTH } from "@toolplane/protocol/agents";

export interface TurnLimits {
  /** Steps of a turn when neither its profile nor its request says a number. */
  readonly maxSteps: number;
  /** A turn this deep is not begun. */
  readonly maxDepth: number;
  /** Calls of one step that are considered; further ones are refused, each with its own result. */
  readonly maxCallsPerStep: number;
  /** How long one answer of a brain may take. */
  readonly thinkMs: number;
}

export const DEFAULT_LIMITS: TurnLimits = {
  maxSteps: 8,
  maxDepth: DEFAULT_MAX_RECURSION_DEPTH,
  // More at once than any model plans for; a loop in a model's output is cut off here.
  maxCallsPerStep: 64,
  // Reasoning models take minutes; a connection that died silently must not hold its turn for ever.
  thinkMs: 15 * 60_000,
};
