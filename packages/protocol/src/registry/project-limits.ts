// The limits of a project. One key per limit: an unknown key is refused by name, and a key that is not given has the protocol's
// default. `null` takes a limit away.

import { z } from "zod";
import type { JsonObject } from "../json/json-value.ts";
import { type Breaker, breakerSchema, concurrencySchema, type Rate, rateSchema } from "../tools/limits.ts";

/** Tasks of one fork_join. Raise it only for agents that stop giving work to others by themselves. */
export const DEFAULT_FORK_JOIN_TASKS = 8;
/** The result of more tasks would not fit into one card. */
const MOST_FORK_JOIN_TASKS = 1_000;

/**
 * Turns that agents of a project gave to other agents and that have not ended. Depth alone does not bound delegation: an agent
 * that gives work to eight of its kind, which do the same, has millions of descendants twenty levels down.
 */
const DEFAULT_DELEGATED_TURNS = 1_000;
/** Delegated turns are counted at each delegation; counting more than this would take too long. */
const MOST_DELEGATED_TURNS = 100_000;

/** The calls of a queue are counted when new calls come; counting more than this would take too long. */
const MOST_QUEUED = 1_000_000;

/** Behind an unknown key `breaker`. */
const MEANT_BREAKER = "; did you mean target_breaker?";

/**
 * What holds the calls of a project: `concurrency` delays them, `rate` and `queue` refuse new ones. `target_breaker`: each target of the
 * project has a breaker of this kind, which counts the runs of all its tools.
 */
const callLimitsSchema = z.strictObject(
  {
    concurrency: concurrencySchema.nullable().optional(),
    rate: rateSchema.nullable().optional(),
    queue: z.int().min(1).max(MOST_QUEUED).nullable().optional(),
    target_breaker: breakerSchema.nullable().optional(),
  },
  {
    // A tool has a `breaker`; the other words for an unknown key are said elsewhere.
    error: ({ code, keys }) =>
      code === "unrecognized_keys" && Array.isArray(keys) && keys.length === 1 && keys[0] === "breaker"
        ? `unknown key "breaker"${MEANT_BREAKER}`
        : undefined,
  },
);

const forkJoinTasks = z.int().min(1).max(MOST_FORK_JOIN_TASKS).optional();

const delegatedTurns = z.int().min(1).max(MOST_DELEGATED_TURNS).optional();

export const projectLimitsSchema = callLimitsSchema.extend({
  fork_join_tasks: forkJoinTasks,
  delegated_turns: delegatedTurns,
});

/** The rows and cards of so many open calls take some gigabytes. */
const MOST_OPEN_CALLS = 10_000_000;
/** With fewer places the least share of a project, 1 in 200, would be a handful of calls. */
const LEAST_OPEN_CALLS = 1_000;

/** As the configuration file has them: of its project, and of the whole plane. */
export const fileLimitsSchema = z.strictObject({
  project: callLimitsSchema.optional(),
  plane: z.strictObject({ open_calls: z.int().min(LEAST_OPEN_CALLS).max(MOST_OPEN_CALLS).optional() }).optional(),
  fork_join_tasks: forkJoinTasks,
  delegated_turns: delegatedTurns,
});

export type ProjectLimits = z.infer<typeof projectLimitsSchema>;
export type FileLimits = z.infer<typeof fileLimitsSchema>;

/** The limits of a project in force: null where there is none. */
export interface ResolvedLimits {
  readonly fork_join_tasks: number;
  readonly delegated_turns: number;
  readonly concurrency: number | null;
  readonly rate: Rate | null;
  readonly queue: number | null;
  readonly target_breaker: Breaker | null;
}

export const resolveLimits = (limits: ProjectLimits): ResolvedLimits => ({
  fork_join_tasks: limits.fork_join_tasks ?? DEFAULT_FORK_JOIN_TASKS,
  delegated_turns: limits.delegated_turns ?? DEFAULT_DELEGATED_TURNS,
  concurrency: limits.concurrency ?? null,
  rate: limits.rate ?? null,
  queue: limits.queue ?? null,
  target_breaker: limits.target_breaker ?? null,
});

/** The limit as the definition of fork_join carries it, where models and checks of arguments read it. */
export const forkJoinTasksOf = (parameters: JsonObject): number => {
  const { properties } = parameters as { readonly properties?: { readonly tasks?: { readonly maxItems?: unknown } } };
  const most = properties?.tasks?.maxItems;
  return typeof most === "number" ? most : DEFAULT_FORK_JOIN_TASKS;
};
