import { expect, test } from "vitest";
import { commandsOf, planDurables, planLeftovers } from "./plan-durables.ts";

const ofTool = (durable: string, project: string, target: string) => ({
  durable,
  pattern: `cg.v1r4.${project}.*.cmd.tool.${target}.>`,
});

test("[API-5-2] left over is what was made for a pair nobody serves, or for a target in all projects, and nothing else", () => {
  const served = [{ projectId: "demo", target: "text" }];
  const wanted = new Map(planDurables(served).map(({ durable, pattern }) => [durable, pattern]));
  expect([...wanted.keys()]).toEqual(["pmo_service_cmd_v1r4", "tool_text__demo"]);
  const kept = [
    ...planDurables(served),
    { durable: "agent_worker_x_wakeup_v1r4", pattern: "cg.v1r4.*.*.cmd.agent.x.wakeup" },
    { durable: "tool_of_my_own", pattern: "cg.v1r4.*.*.evt.>" },
    { durable: "somebodys", pattern: "cg.v1r4.demo.*.cmd.tool.draw.>" },
  ];
  const left = [ofTool("tool_text", "*", "text"), ofTool("tool_gone__demo", "demo", "gone")];
  expect(planLeftovers([...kept, ...left], wanted).map(({ durable, isOfOnePair }) => [durable, isOfOnePair])).toEqual([
    ["tool_text", false],
    ["tool_gone__demo", true],
  ]);
  // An earlier version's durable of target text__demo has the name of ours and another pattern.
  const [ambiguous] = planLeftovers([ofTool("tool_text__demo", "*", "text__demo")], wanted);
  expect(ambiguous).toMatchObject({ durable: "tool_text__demo", isOfOnePair: false });
});

test("[NATS-SEC-1] names that cannot be told apart get no durable, and their commands can still be thrown away", () => {
  expect(planDurables([{ projectId: "c", target: "a__b" }])).toHaveLength(1);
  expect(commandsOf({ component: "tool", projectId: "c", target: "a__b" })).toEqual(ofTool("", "c", "a__b"));
  expect(commandsOf({ component: "agent", projectId: "c", target: "pool" })).toBeUndefined();
});
