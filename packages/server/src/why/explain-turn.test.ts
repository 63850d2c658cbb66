// What people read about a turn that waits.

import type { TurnView } from "@toolplane/engine";
import { expect, test } from "vitest";
import { planTurnExplanation, type TurnFacts } from "./explain-turn.ts";

const view = { agentTurnId: "turn_1", agentId: "ann", endedAt: null, headLost: false, waitingCount: 2 };
const explain = (status: string, facts: Partial<TurnFacts>) =>
  planTurnExplanation({
    view: { ...view, status } as TurnView,
    steps: [],
    agent: undefined,
    ahead: undefined,
    calls: [],
    ...facts,
  });

test("[LIM-why-1] a turn that waits for running and queued calls advises `why` of a queued one, which a limit may hold", () => {
  const calls = [
    { toolCallId: "c1", toolName: "search", status: "running" },
    { toolCallId: "c2", toolName: "search", status: "queued" },
  ] as const;
  expect(explain("suspended", { calls })).toEqual({
    why: "it waits for search (running, call c1), search (queued, call c2)",
    todo: "toolplane why c2",
  });
  expect(explain("suspended", { calls: calls.slice(0, 1) }).todo).toBe("toolplane why c1");
});

test("[LIM-why-4] a turn that no worker takes says how many there are, and that their places may be taken", () => {
  const agent = { status: "active", workerTarget: "crew" };
  const worker = { pid: 1, host: "box", roles: ["worker"], bus: "postgres" } as const;
  expect(explain("dispatched", { agent, processes: [worker, { ...worker, pid: 2 }] })).toEqual({
    why: "it waits for a worker of pool crew to take it; 2 processes have the role worker; workers serve the agents of all projects",
    todo: expect.stringMatching(
      /serves pool crew .*, or all their places are taken by other turns: toolplane up --roles worker/,
    ),
  });
});
