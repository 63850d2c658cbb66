import { describe, expect, test } from "vitest";
import { type CGContext, createContext } from "./context.ts";
import {
  asActor,
  withNewStep,
  withRecursionDepth,
  withRestoredState,
  withToolCall,
  withTurn,
  withTurnEpoch,
} from "./evolve.ts";

const context = createContext({
  projectId: "demo",
  channelId: "u_1",
  agentId: "helper",
  agentTurnId: "turn_1",
  turnEpoch: 3,
  recursionDepth: 2,
  stepId: "step_1",
  toolCallId: "tc_1",
  traceId: "a".repeat(32),
  parentStepId: "step_0",
  headers: { "CG-Recursion-Depth": "2", a: "1" },
});

/** The fields in which two contexts differ. */
const changed = (next: CGContext) =>
  Object.fromEntries(
    Object.entries(next).filter(([name, value]) => !Object.is(value, context[name as keyof CGContext])),
  );

describe("named changes", () => {
  const cases: readonly (readonly [string, CGContext, object])[] = [
    ["withTurnEpoch", withTurnEpoch(context, 4), { turnEpoch: 4 }],
    ["withToolCall", withToolCall(context, "tc_2"), { toolCallId: "tc_2" }],
    ["withToolCall null", withToolCall(context, null), { toolCallId: null }],
    ["withTurn", withTurn(context, "turn_2", 9), { agentTurnId: "turn_2", turnEpoch: 9 }],
    ["withNewStep", withNewStep(context, "step_2"), { stepId: "step_2" }],
    [
      "asActor",
      asActor(context, "tool.text"),
      { agentId: "tool.text", agentTurnId: "", turnEpoch: 0, stepId: null, toolCallId: null },
    ],
  ];
  test.each(cases)("[UTP-3-5] %s", (_name, next, expected) => {
    expect(changed(next)).toEqual(expected);
  });

  test("[UTP-3-5] [UTP-2.7-3] withRecursionDepth also rewrites the header", () => {
    expect(changed(withRecursionDepth(context, 5))).toEqual({
      recursionDepth: 5,
      headers: { "CG-Recursion-Depth": "5", a: "1" },
    });
  });

  test("[UTP-3-6] withRestoredState takes what is known and keeps the rest", () => {
    expect(changed(withRestoredState(context, { parentStepId: null, traceId: undefined, headers: null }))).toEqual({});
    expect(
      changed(withRestoredState(context, { parentStepId: "p", traceId: "b".repeat(32), headers: { b: "2" } })),
    ).toEqual({
      parentStepId: "p",
      traceId: "b".repeat(32),
      headers: { b: "2" },
    });
  });
});
