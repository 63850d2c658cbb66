// The synchronous match of a step's calls: what a direct call gets, a call of an agent gets too.

import type { Work } from "@toolplane/engine";
import type { FaultPoint } from "@toolplane/engine/internal";
import { ToolplaneError } from "@toolplane/protocol";
import { countStatements, createStandingClock, meddle, resultFor, until } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { call, commit, startTurnWorld, type TurnWorld, takeTurn } from "./turn-world.ts";

const WAIT_MS = 60_000;

/** With a clock that stands: a service that rests does not look by itself, however long a busy machine takes. */
const start = (options: Parameters<typeof startTurnWorld>[0] = {}): Promise<TurnWorld> =>
  startTurnWorld({ clock: createStandingClock(), ...options });

/** A service that has looked at the empty queue and rests in line. */
const rest = async (t: TurnWorld) => {
  const claimed = t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "service", max: 4 }, WAIT_MS);
  const looks = () => t.engine.calls.stats().claim;
  await until("its look to be over", () => looks()?.items === 1 && looks()?.inFlight === 0, WAIT_MS);
  return { claimed };
};

const leasesOf = (t: TurnWorld, work: Work) =>
  t.rows("select status, lease_holder, attempts from state.calls where agent_turn_id = $1", [work.agentTurnId]);

test("[ENG-match-1] a step's calls are written as leased to the service that rests, and handed to it after the commit", async () => {
  await using t = await start();
  const work = await takeTurn(t);
  const { claimed } = await rest(t);
  const counted = countStatements([t.engine]);
  const step = await commit(t, work, call("safe"), call("unsafe"));
  const leased = await claimed;
  expect(leased.map(({ facts }) => facts.toolCallId)).toEqual(step.calls.map(({ toolCallId }) => toolCallId));
  expect(await leasesOf(t, work)).toEqual([
    { status: "running", lease_holder: "service", attempts: 1 },
    { status: "running", lease_holder: "service", attempts: 1 },
  ]);
  expect(counted.names().filter((name) => /claim|projects/.test(name))).toEqual([]);
  for (const one of leased) expect((await t.engine.calls.settle(resultFor(one))).status).toBe("success");
});

test("[ENG-match-4] when the answer of a step's commit is lost its calls go back to the queue, also those that may not run twice", async () => {
  let lost = 0;
  const faults = {
    at: (point: FaultPoint) =>
      point === "commit:after-commit" && lost++ === 0
        ? Promise.reject(new ToolplaneError("storage_error", "the answer was lost"))
        : Promise.resolve(),
  };
  await using t = await start({ faults });
  const work = await takeTurn(t);
  const { claimed } = await rest(t);
  const step = await commit(t, work, call("unsafe")).catch(() => commit(t, work, call("unsafe")));
  const [leased] = await claimed;
  expect(leased).toMatchObject({ attempt: 1, facts: { toolCallId: step.calls[0]?.toolCallId } });
  expect(await leasesOf(t, work)).toHaveLength(1);
});

test("[ENG-match-4] a step that is planned again leaves no lease of its first try, and the service gets the call", async () => {
  await using t = await start();
  const { engine, projectId } = t;
  const work = await takeTurn(t);
  // Remembered here, and gone: the first try is not written.
  await engine.definitions.resolve([{ projectId, toolName: "unsafe" }]);
  await meddle(t, "deleteUnsafeTool");
  const { claimed } = await rest(t);
  const step = await commit(t, work, call("safe"), call("unsafe"));
  const leased = await claimed;
  expect(leased.map(({ facts }) => facts.toolCallId)).toEqual([step.calls[0]?.toolCallId]);
  expect(await leasesOf(t, work)).toEqual([{ status: "running", lease_holder: "service", attempts: 1 }]);
});
