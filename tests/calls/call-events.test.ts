// Every call tells of its life on evt.agent.{agent}.call: each phase once, in order, by the statement that makes it true.

import type { Engine } from "@toolplane/engine";
import { parseCallEvent } from "@toolplane/protocol/agents";
import { resultFor, startTestEngine, type TestEngine } from "@toolplane/testkit";
import { expect, test } from "vitest";

const CLAIM = { target: "test", holder: "service", max: 4 } as const;

const eventsOf = async (t: TestEngine, engine: Engine = t.engine) =>
  (await engine.events.read(t.projectId, "0")).map((event) => ({
    ...event,
    payload: parseCallEvent(JSON.parse(event.payload)),
  }));

/** `phase status attempt` of each. */
const lifeOf = async (t: TestEngine, toolCallId: string) =>
  (await eventsOf(t))
    .filter(({ payload }) => payload.tool_call_id === toolCallId)
    .map(({ payload: { phase, status, attempt } }) => `${phase} ${status} ${attempt}`);

test("[ENG-events-1] a direct call that is claimed tells that it was dispatched, leased and settled", async () => {
  await using t = await startTestEngine();
  const key = { projectId: t.projectId, toolName: "safe" };
  const { toolCallId } = await t.engine.calls.dispatch({ ...key, arguments: {} });
  expect(await lifeOf(t, toolCallId)).toEqual(["dispatched queued 0"]);
  const [leased] = await t.engine.calls.claim({ ...CLAIM, projectId: t.projectId });
  if (leased === undefined) throw new RangeError("nothing was claimed");
  await t.engine.calls.settle(resultFor(leased));
  expect(await lifeOf(t, toolCallId)).toEqual(["dispatched queued 0", "leased running 1", "settled success 1"]);
  const [event] = await eventsOf(t);
  expect(event).toMatchObject({
    subject: `cg.v1r4.${t.projectId}.public.evt.agent.sys_api.call`,
    headers: {
      "CG-Project-Id": t.projectId,
      "CG-Channel-Id": "public",
      "CG-Agent-Id": "sys.api",
      "CG-Turn-Id": leased.facts.agentTurnId,
      "CG-Turn-Epoch": String(leased.facts.turnEpoch),
      "CG-Version": "v1r4",
      "CG-Msg-Type": "AgentCallPayload",
      traceparent: leased.facts.headers.traceparent,
    },
    payload: { agent_turn_id: leased.facts.agentTurnId, tool_name: "safe" },
  });
});
