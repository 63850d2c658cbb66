// An agent of the crash world in the middle of a turn: what a test of one step starts from.

import type { Engine, Work } from "@toolplane/engine";
import { CRASH_PROJECT } from "@toolplane/testkit";

const AGENT = { projectId: CRASH_PROJECT, agentId: "agent_1" };

export const takeTurn = async ({ turns }: Engine): Promise<Work> => {
  await turns.spawn({ ...AGENT, sourceAgentId: "sys.test", context: { instruction: "take a step" } });
  const { work } = await turns.advance({ ...AGENT, workerId: "worker", takeWork: true });
  if (work === undefined) throw new RangeError("there was no work");
  return work;
};
