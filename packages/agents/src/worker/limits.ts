// What a turn may use up. A profile cannot raise these: they are the operator's, as the machine is.

export interface TurnLimits {
  /** Steps of one turn. */
  readonly maxSteps: number;
  /** A turn this deep is not begun. */
  readonly maxDepth: number;
  /** Calls of one step that are looked at; the ones after are refused, each with its own result. */
  readonly maxCallsPerStep: number;
  /** How long one answer of a brain may take. */
  readonly thinkMs: number;
}

export const DEFAULT_LIMITS: TurnLimits = {
  maxSteps: 8,
  maxDepth: 20,
  // More at once than any model plans for; a loop in a model's output ends here and not in the database.
  maxCallsPerStep: 64,
  // Reasoning models take minutes; a connection that died without saying so must not hold its turn for ever.
  thinkMs: 15 * 60_000,
};
