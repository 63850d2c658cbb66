import { expect, test } from "vitest";
import { BREAKER, gateState } from "../../test/gate-state.ts";
import { type GateState, PROJECT_GATE, targetGate } from "./gate.ts";
import { type Passer, planPassage, type WaitingCall } from "./plan-passage.ts";

const ASK = { projectId: "p", max: 100 };

/** `lane` and a number name a call; a line of them waits at each gate. */
const line = (name: string, calls: string, ord = 0): WaitingCall[] =>
  calls.split(" ").map((toolCallId) => ({ ord, gate: name, lane: toolCallId[0] ?? "", toolCallId }));

const passed = (states: readonly GateState[], passers: readonly Passer[], waiting: readonly WaitingCall[]): string =>
  planPassage(states, passers, waiting)
    .passed.map(({ ord, toolCallId }) => `${ord === 0 ? "" : `${ord}:`}${toolCallId}`)
    .join(" ");

test.each<[string, readonly GateState[], readonly Passer[], readonly WaitingCall[], string]>([
  ["as many as there is room", [gateState("t", { concurrency: 2 })], [ASK], line("t", "a1 a2 a3"), "a1 a2"],
  ["no more than was asked for", [gateState("t", { concurrency: 9 })], [{ ...ASK, max: 1 }], line("t", "a1 a2"), "a1"],
  [
    "one of each lane in turn",
    [gateState("t", { concurrency: 4 })],
    [ASK],
    line("t", "a1 a2 a3 a4 b1 c1"),
    "a1 b1 c1 a2",
  ],
  [
    "the lane behind the last one first",
    [gateState("t", { concurrency: 2 }, { lastLane: "a" })],
    [ASK],
    line("t", "a1 a2 b1 c1"),
    "b1 c1",
  ],
  [
    "the last lane is served when no other waits",
    [gateState("t", { concurrency: 2 }, { lastLane: "a" })],
    [ASK],
    line("t", "a1 a2"),
    "a1 a2",
  ],
  [
    "two requests share the room of a gate",
    [gateState("t", { concurrency: 3 })],
    [{ ...ASK, max: 2 }, ASK],
    [...line("t", "a1 a2 a3"), ...line("t", "b1 b2", 1)],
    "a1 a2 1:b1",
  ],
  [
    "a call that two requests could have passes once",
    [gateState("t", { concurrency: 9 })],
    [ASK, ASK],
    [...line("t", "a1"), ...line("t", "a1", 1)],
    "a1",
  ],
  [
    "the limit of the project holds all gates, each in turn",
    [gateState(PROJECT_GATE, { concurrency: 3 }), gateState("t", { concurrency: 9 }), gateState("u", {})],
    [ASK],
    [...line("t", "a1 a2 a3"), ...line("u", "b1 b2")],
    "a1 b1 a2",
  ],
  [
    "the gate behind the last one first",
    [gateState(PROJECT_GATE, { concurrency: 1 }, { lastGate: "t" }), gateState("t", {}), gateState("u", {})],
    [ASK],
    [...line("t", "a1"), ...line("u", "b1")],
    "b1",
  ],
  [
    "a full gate holds up no other",
    [
      gateState(PROJECT_GATE, {}),
      gateState("t", { concurrency: 1 }, { running: 1 }),
      gateState("u", { concurrency: 1 }),
    ],
    [ASK],
    [...line("t", "a1"), ...line("u", "b1")],
    "b1",
  ],
  [
    "an open breaker of a target holds the calls of its requests and no others",
    [
      gateState(PROJECT_GATE, {}),
      gateState("t", {}),
      gateState(targetGate("x"), { breaker: BREAKER }, { openUntilMs: 9_000 }),
    ],
    [{ ...ASK, targetGate: targetGate("x") }, ASK],
    [...line("t", "a1"), ...line("t", "b1", 1)],
    "1:b1",
  ],
  [
    "a target lets one call of all its tools through as a trial",
    [
      gateState("t", { concurrency: 9 }),
      gateState("u", {}),
      gateState(targetGate("x"), { breaker: BREAKER }, { openUntilMs: 900 }),
    ],
    [{ ...ASK, targetGate: targetGate("x") }],
    [...line("t", "a1 a2"), ...line("u", "b1")],
    "a1",
  ],
])("[LIM-pass-1] %s", (_what, states, passers, waiting, expected) => {
  expect(passed(states, passers, waiting)).toBe(expected);
});

test("[LIM-pass-2] a gate remembers its tokens and its last lane, and the project its last gate", () => {
  const rate = { limit: 10, per_seconds: 1, burst: 2 };
  const states = [gateState(PROJECT_GATE, {}), gateState("t", { rate })];
  const { passed: calls, marks } = planPassage(states, [ASK], line("t", "a1 b1 c1"));
  expect(calls.map(({ toolCallId }) => toolCallId)).toEqual(["a1", "b1"]);
  expect(marks).toEqual([
    { projectId: "p", gate: PROJECT_GATE, fullAtMs: null, lastLane: "", lastGate: "t", trial: null },
    { projectId: "p", gate: "t", fullAtMs: 1_200, lastLane: "b", lastGate: "", trial: null },
  ]);
});
