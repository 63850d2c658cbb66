import type { Card } from "@toolplane/protocol";
import { createResultFieldsCard, type ModelToolSpec, submitResultSpec } from "@toolplane/protocol/agents";
import { describe, expect, test } from "vitest";
import { instruction } from "../../test/sample-cards.ts";
import { readCardSpec } from "./read-card.ts";
import { mustEndWithText, planStepBudget, requiredFields } from "./step-notes.ts";

const names = (tools: readonly ModelToolSpec[]) => tools.map((tool) => tool.function.name);

describe("the step budget", () => {
  const tools = [readCardSpec(), submitResultSpec()];
  test.each([
    [8, 0, undefined, ["read_card", "submit_result"]],
    [8, 5, undefined, ["read_card", "submit_result"]],
    [8, 6, "Two steps are left", ["read_card", "submit_result"]],
    [8, 7, "This is the last step", ["submit_result"]],
    [1, 0, "This is the last step", ["submit_result"]],
    [8, 8, undefined, ["read_card", "submit_result"]],
  ])("[UTP-10.2-9] of %i steps %i are made", (maxSteps, made, alert, offered) => {
    const budget = planStepBudget(tools, maxSteps, made);
    expect(names(budget.tools)).toEqual(offered);
    if (alert === undefined) expect(budget.alert).toBeUndefined();
    else expect(budget.alert).toContain(alert);
  });

  test("[UTP-10.2-9] without submit_result the tools stay", () => {
    const budget = planStepBudget([readCardSpec()], 3, 2);
    expect(names(budget.tools)).toEqual(["read_card"]);
    expect(budget.alert).toContain("answer without calling a tool");
  });
});

test("[ARCH-9-T3] a reminder names what the turn must end with", () => {
  expect(mustEndWithText(["submit_result"])).toContain("a call of submit_result");
  expect(mustEndWithText(["a", "b"])).toContain("one of a, b");
});

test("[ARCH-9-T3] the newest list of required fields counts", () => {
  const fields = (cardId: string, name: string): Card =>
    createResultFieldsCard({
      cardId,
      projectId: "p1",
      createdAt: "2026-01-01T00:00:00.000Z",
      authorId: "api",
      fields: [{ name }],
    });
  expect(requiredFields([fields("f1", "old"), instruction("i"), fields("f2", "new"), instruction("j")])).toEqual([
    { name: "new", description: "" },
  ]);
  expect(requiredFields([instruction("i")])).toEqual([]);
});
