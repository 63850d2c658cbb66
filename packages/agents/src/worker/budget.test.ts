import type { Work } from "@toolplane/engine";
import type { Card } from "@toolplane/protocol";
import { parseProfile } from "@toolplane/protocol/registry";
import { describe, expect, test } from "vitest";
import { planBudget, planStepLimit, planTokenLimit, timeLeftMs } from "./budget.ts";

const MACHINE = { maxSteps: 8 };
const asked = (runtimeConfig: object) => ({ runtimeConfig }) as Pick<Work, "runtimeConfig">;
const NOTHING = { steps: 8, tokens: undefined, seconds: undefined };

describe("[BUDGET-1] what a turn may use up", () => {
  const profile = { budget: { steps: 20, seconds: 60 } };
  test.each([
    ["nothing is said", {}, undefined, NOTHING],
    ["the profile says it", {}, profile, { steps: 20, tokens: undefined, seconds: 60 }],
    ["the request raises it", { budget: { steps: 50 } }, profile, { steps: 50, tokens: undefined, seconds: 60 }],
    [
      "an agent asks: it is lowered, not raised",
      { budget: { steps: 50, seconds: 5, tokens: 9 }, budget_only_lowers: true },
      profile,
      { steps: 20, tokens: 9, seconds: 5 },
    ],
    ["what was stored cannot be read", { budget: { steps: "many" } }, undefined, NOTHING],
  ])("%s", (_, runtimeConfig, ofProfile, budget) => {
    expect(planBudget(asked(runtimeConfig), ofProfile, MACHINE)).toEqual(budget);
  });

  test("a profile is refused with a budget it cannot mean, and with another name for it", () => {
    const upload = { name: "p", worker_target: "w" };
    expect(parseProfile({ ...upload, budget: { steps: 3 } }).budget).toEqual({ steps: 3 });
    expect(() => parseProfile({ ...upload, budget: { stepz: 3 } })).toThrow("stepz");
    expect(() => parseProfile({ ...upload, max_steps: 3 })).toThrow("write budget: { steps: N }");
  });
});

describe("[BUDGET-2] when it is used up", () => {
  const thought = (total: number, turnId = "t") =>
    ({
      type: "agent.thought",
      metadata: { agent_turn_id: turnId, llm_usage: { total_tokens: total } },
    }) as unknown as Card;
  const tokens = { ...NOTHING, tokens: 100 };
  test("steps", () => {
    expect(planStepLimit({ stepCount: 7 }, NOTHING)).toBeUndefined();
    expect(planStepLimit({ stepCount: 8 }, NOTHING)?.errorCode).toBe("max_steps_reached");
  });
  test("tokens, of this turn only", () => {
    const work = { agentTurnId: "t" };
    expect(planTokenLimit(work, [thought(60), thought(500, "before")], tokens)).toBeUndefined();
    expect(planTokenLimit(work, [thought(60), thought(40)], tokens)?.errorCode).toBe("token_budget_reached");
  });
  test("time, from the beginning of the turn, on two clocks", () => {
    const work = { claimedAtMs: 50_000, turnDispatchedAtMs: 20_000 };
    expect(timeLeftMs(work, NOTHING, 1_000)).toBeUndefined();
    expect(timeLeftMs(work, { ...NOTHING, seconds: 40 }, 1_000)).toBe(9_000);
  });
});
