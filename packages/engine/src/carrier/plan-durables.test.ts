import { expect, test } from "vitest";
import { planDurables, planLeftovers } from "./plan-durables.ts";

test("[API-5-2] left over is what we made for a target without tools, and nothing else", () => {
  const wanted = new Set(planDurables(["text"]).map(({ durable }) => durable));
  const present = [...wanted, "tool_gone", "tool_", "tool_a.b", "agent_worker_x_wakeup_v1r4", "somebodys_own"];
  expect(planLeftovers(present, wanted)).toEqual(["gone"]);
  expect(planLeftovers([...wanted], wanted)).toEqual([]);
});
