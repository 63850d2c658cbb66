// A fork_join of the boss, and the time that passes for it.

import { batchIdOf } from "@toolplane/engine";
import { meddle } from "@toolplane/testkit";
import { type PmoWorld, PROJECT, WORKER } from "./pmo-world.ts";

/** So many tasks for new workers. */
export const tasks = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...WORKER, instruction: `part ${index}` }));

/** The boss forks; what became of it. */
export const fork = async (world: PmoWorld, args: Record<string, unknown>, agentId?: string) => {
  const asked = await world.ask("fork_join", args as { readonly tasks: [] }, agentId);
  await world.serve();
  const batchId = batchIdOf(asked.toolCallId);
  const view = async () => {
    const batch = await world.engine.batches.get({ projectId: PROJECT, batchId });
    if (batch === undefined) throw new RangeError("there is no batch");
    return batch;
  };
  const agents = (await view()).tasks.map(({ agentId }) => agentId);
  return { ...asked, batchId, view, agents };
};

const PASSINGS = {
  deadline: "passBatchDeadline",
  retry: "retryTasksNow",
  patience: "ageChildren",
  memory: "forgetChildren",
} as const;

export const letPass = (world: PmoWorld, batchId: string, what: keyof typeof PASSINGS) =>
  meddle(world.test, PASSINGS[what], [batchId]);
