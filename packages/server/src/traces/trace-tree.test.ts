import type { CallView, StepView, Trace, TurnView } from "@toolplane/engine";
import { expect, test } from "vitest";
import { planTree, type TraceNode } from "./trace-tree.ts";

const at = (second: number): string => `2030-01-01T00:00:0${second}.000Z`;
const turn = (agentTurnId: string, more: Partial<TurnView> = {}) =>
  ({
    agentTurnId,
    agentId: `agent of ${agentTurnId}`,
    status: "success",
    errorCode: null,
    createdAt: at(0),
    endedAt: at(9),
    parentAgentTurnId: null,
    parentStepId: null,
    ...more,
  }) as TurnView;
const step = (stepId: string, agentTurnId: string, second: number) =>
  ({ stepId, agentTurnId, status: "completed", startedAt: at(second), endedAt: null }) as unknown as StepView;
const call = (toolCallId: string, stepId: string, second: number) =>
  ({
    toolCallId,
    stepId,
    toolName: "t",
    status: "success",
    errorCode: null,
    createdAt: new Date(at(second)),
    settledAt: null,
  }) as unknown as CallView;

const shape = ({ id, children }: TraceNode): unknown => (children.length === 0 ? id : { [id]: children.map(shape) });

test("[SEE-6] steps hang under turns, calls and further turns under the step they came of, the rest are roots", () => {
  const trace: Trace = {
    turns: [
      turn("root"),
      turn("child", { parentAgentTurnId: "root", parentStepId: "s1", createdAt: at(4) }),
      turn("stray", { parentAgentTurnId: "root", parentStepId: "gone", createdAt: at(5) }),
      turn("other", { parentAgentTurnId: "elsewhere", createdAt: at(1) }),
    ],
    steps: [step("s1", "root", 1), step("s2", "root", 3), step("s3", "child", 4)],
    calls: [call("c1", "s1", 2), call("direct", "step_of_a_call", 6)],
    isCut: false,
  };
  expect(planTree(trace).map(shape)).toEqual([
    { root: [{ s1: ["c1", { child: ["s3"] }] }, "s2", "stray"] },
    "other",
    "direct",
  ]);
});
