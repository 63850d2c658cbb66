import { describe, expect, test } from "vitest";
import { type CGContext, createContext, evolveContext } from "./context.ts";
import { asActor, withToolCall } from "./evolve.ts";

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
    ["withToolCall", withToolCall(context, "tc_2"), { toolCallId: "tc_2" }],
    ["withToolCall null", withToolCall(context, null), { toolCallId: null }],
    [
      "evolve",
      evolveContext(context, { agentTurnId: "turn_2", turnEpoch: 9 }),
      { agentTurnId: "turn_2", turnEpoch: 9 },
    ],
    [
      "asActor",
      asActor(context, "tool.text"),
      { agentId: "tool.text", agentTurnId: "", turnEpoch: 0, stepId: null, toolCallId: null },
    ],
  ];
  test.each(cases)("[UTP-3-5] %s", (_name, next, expected) => {
    expect(changed(next)).toEqual(expected);
  });

  test("[UTP-3-5] [UTP-2.7-3] a new depth also rewrites the header", () => {
    expect(changed(evolveContext(context, { recursionDepth: 5 }))).toEqual({
      recursionDepth: 5,
      headers: { "CG-Recursion-Depth": "5", a: "1" },
    });
  });

  test("[UTP-3-6] what is not known is kept", () => {
    const restored = { parentStepId: "p", traceId: "b".repeat(32), headers: { b: "2" } };
    expect(changed(evolveContext(context, { parentStepId: undefined, traceId: undefined }))).toEqual({});
    expect(changed(evolveContext(context, restored))).toEqual(restored);
  });
});
