import { expect, test } from "vitest";
import { isWanted, nameEvent, planPause } from "./plan-delivery.ts";

const call = (phase: string) => ({
  subject: "cg.v1r4.demo.public.evt.agent.helper.call",
  payload: JSON.stringify({ agent_turn_id: "turn_1", tool_call_id: "c1", phase, status: "success" }),
});

test("[API-webhook-1] events of the log get names; what is not for webhooks gets none", () => {
  expect(nameEvent(call("settled"))).toMatchObject({ name: "call.settled", orderKey: "c1", toolCallId: "c1" });
  const task = { subject: "cg.v1r4.demo.public.evt.agent.helper.task", payload: '{"agent_turn_id":"turn_1"}' };
  expect(nameEvent(task)).toMatchObject({ name: "turn.ended", orderKey: "turn_1", toolCallId: undefined });
  for (const subject of [
    "cg.v1r4.demo.public.evt.agent.helper.step",
    "cg.v1r4.demo.public.evt.agent.helper.state",
    "x",
  ])
    expect(nameEvent({ subject, payload: call("settled").payload })).toBeUndefined();
  for (const payload of ["", "[]", '{"phase":"settled"}', '{"phase":1,"tool_call_id":"c"}'])
    expect(nameEvent({ ...call("settled"), payload })).toBeUndefined();
});

test.each<[readonly string[], string | null, string, boolean]>([
  [["call.settled"], null, "settled", true],
  [["call.settled"], null, "leased", false],
  [["call.*"], null, "leased", true],
  [["*"], null, "leased", true],
  [["turn.ended"], null, "settled", false],
  [["call.settled"], "c1", "settled", true],
  [["*"], "another", "settled", false],
])("[API-webhook-1] events %j of call %s: %s is wanted: %s", (events, toolCallId, phase, wanted) => {
  const event = nameEvent(call(phase)) ?? expect.unreachable("no event");
  expect(isWanted({ webhookId: "w", toolCallId, events }, event)).toBe(wanted);
});

test("[API-webhook-3] pauses grow, and end", () => {
  const pauses = Array.from({ length: 9 }, (_, index) => planPause(index + 1));
  expect(pauses.at(-1)).toBeUndefined();
  const seconds = pauses.slice(0, -1).map(Number);
  expect(seconds).toEqual([...seconds].sort((a, b) => a - b));
});
