// The limits of a project. One key per limit: an unknown key is refused by name, and a key that is not given has the protocol's
// default.

import { z } from "zod";
import type { JsonObject } from "../json/json-value.ts";

/** Tasks of one fork_join. An operator who raises it should know that the agents stop by themselves. */
export const DEFAULT_FORK_JOIN_TASKS = 8;
/** The result of more tasks would not fit into one card. */
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
