// Steps, ends and turns that are planned from memory: what changed meanwhile is what counts.

import { type Engine, stepIdOf, type Work } from "@toolplane/engine";
import type { Database } from "@toolplane/engine/internal";
import { createMemoryCarrier, meddle } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { advance, asking, call, commit, mustWork, POOL, startTurnWorld, takeTurn } from "./turn-world.ts";

const finish = ({ turns }: Engine, work: Work) =>
  turns.finish(work, {
    status: "success",
    stepId: stepIdOf(work.agentTurnId, work.stepCount + 1),
    deliverable: { text: "done" },
  });

/** The checks of memory, in order: whether the database found it true. */
const watchMemory = ({ db }: Engine): string[] => {
  const seen: string[] = [];
  const watched = db as { -readonly [Key in keyof Database]: Database[Key] };
  const { together } = db;
  watched.together = async (parts) => {
    const name = parts[0]?.statement.name ?? "";
    try {
      const rows = await together(parts);
      seen.push(`${name}: true`);
      return rows;
    } catch (error) {
      seen.push(`${name}: not true`);
      throw error;
    }
  };
  return seen;
};

test("[ARCH-5-Q1] a step, an end and the next turn of the agent are written from memory", async () => {
  await using t = await startTurnWorld();
  const seen = watchMemory(t.engine);
  await finish(t.engine, await takeTurn(t));
  await commit(t, await takeTurn(t), call("safe"));
  expect(seen).toEqual(["turns.keep-last-work: true", "turns.keep-agents: true", "turns.keep-work: true"]);
  expect(await t.rows("select status, turn_epoch::int, waiting_tool_count from state.heads")).toEqual([
    { status: "suspended", turn_epoch: 2, waiting_tool_count: 1 },
  ]);
});

test("[INV-I2-T1] work that was given back, or whose turn was stopped, is refused though the worker remembers it", async () => {
  await using t = await startTurnWorld();
  const seen = watchMemory(t.engine);
  const given = await takeTurn(t);
  await t.engine.turns.release(given);
  await expect(commit(t, given, call("safe"))).rejects.toMatchObject({ code: "lease_lost" });
  const taken = mustWork(await advance(t));
  await t.engine.turns.stop({ ...taken, actorId: "sys.api", reason: "enough" });
  await expect(finish(t.engine, taken)).rejects.toMatchObject({ code: "lease_lost" });
  expect(seen).toEqual(["turns.keep-work: not true", "turns.keep-last-work: not true"]);
  expect(await t.rows("select tool_call_id from state.calls")).toEqual([]);
});

test("a turn that came meanwhile follows the one whose end was planned without it", async () => {
  await using t = await startTurnWorld();
  const seen = watchMemory(t.engine);
  const work = await takeTurn(t);
  const next = await t.engine.turns.spawn(asking(t));
  await finish(t.engine, work);
  expect(seen).toEqual(["turns.keep-last-work: not true"]);
  expect(mustWork(await advance(t)).agentTurnId).toBe(next.agentTurnId);
});

test("a tool that was deleted after the step was planned is refused, and nothing of the first try stays", async () => {
  await using t = await startTurnWorld();
  const seen = watchMemory(t.engine);
  const work = await takeTurn(t);
  const { resolve } = t.engine.definitions;
  const [pinned] = await resolve([{ projectId: t.projectId, toolName: "safe" }]);
  await t.engine.tools.deleteTool(t.projectId, "safe");
  // The process has not heard of it yet.
  let asked = 0;
  Object.assign(t.engine.definitions, {
    resolve: (asks: Parameters<typeof resolve>[0]) => (asked++ === 0 ? Promise.resolve([pinned]) : resolve(asks)),
  });
  const done = await commit(t, work, call("safe"));
  // The second plan, with a refusal in the place of the call, is written from memory too.
  expect(seen).toEqual(["turns.keep-work: not true", "turns.keep-work: true"]);
  expect(done.calls.map(({ refusal }) => refusal?.code)).toEqual(["not_found"]);
  expect(await t.rows("select tool_call_id from state.calls")).toEqual([]);
});

test("[UTP-6.9-1] an agent that was changed while it was idle is asked as it is now", async () => {
  const carrier = createMemoryCarrier();
  carrier.away(true);
  await using t = await startTurnWorld({ carrier });
  const seen = watchMemory(t.engine);
  await finish(t.engine, await takeTurn(t));
  await meddle(t, "moveAgents");
  await finish(t.engine, await takeTurn(t));
  const subjects = await t.rows<{ subject: string }>(
    "select subject from bus.messages where category = 'cmd' order by id",
  );
  expect(subjects.map(({ subject }) => subject.split(".")[6])).toEqual([POOL, "pool_b"]);
  await t.engine.agents.deactivateAgent(t.projectId, "helper", "enough");
  await expect(t.engine.turns.spawn(asking(t))).rejects.toMatchObject({ code: "conflict" });
  expect(seen.filter((line) => line.startsWith("turns.keep-agents"))).toEqual([
    "turns.keep-agents: not true",
    "turns.keep-agents: not true",
  ]);
});
