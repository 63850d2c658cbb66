// What a project may ask for at most. One key per limit: a key that is not known is refused by name, and one that is not
// given has the default of the protocol.

import { z } from "zod";
import type { JsonObject } from "../json/json-value.ts";

/** Tasks of one fork_join; more than this are set by somebody who knows that the agents know when to stop. */
export const DEFAULT_FORK_JOIN_TASKS = 8;
/** The result of more would not fit into one card. */
const MOST_FORK_JOIN_TASKS = 1_000;

export const projectLimitsSchema = z.strictObject({
  fork_join_tasks: z.int().min(1).max(MOST_FORK_JOIN_TASKS).optional(),
});

export type ProjectLimits = z.infer<typeof projectLimitsSchema>;

export const resolveLimits = (limits: ProjectLimits): Required<ProjectLimits> => ({
  fork_join_tasks: limits.fork_join_tasks ?? DEFAULT_FORK_JOIN_TASKS,
});

/** The limit as the definition of fork_join carries it, where models and checks of arguments read it. */
export const forkJoinTasksOf = (parameters: JsonObject): number => {
  const { properties } = parameters as { readonly properties?: { readonly tasks?: { readonly maxItems?: unknown } } };
  const most = properties?.tasks?.maxItems;
  return typeof most === "number" ? most : DEFAULT_FORK_JOIN_TASKS;
};
