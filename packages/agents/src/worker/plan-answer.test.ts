import { ToolplaneError } from "@toolplane/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readAskedCalls } from "./asked-calls.ts";
import { type AnswerInput, type Fate, planAnswer } from "./plan-answer.ts";
import { BUILT_IN_TOOLS } from "./plan-question.ts";

type Ask = { name: string; arguments?: unknown };

const calls = (...asks: Ask[]) =>
  readAskedCalls(
    asks.map((ask) => ({ arguments: {}, ...ask })),
    1,
  );

const input = (asks: readonly Ask[], more: Partial<AnswerInput> = {}): AnswerInput => ({
  text: "",
  calls: calls(...asks),
  mustEndWith: [],
  offered: new Set(["search", "submit_result", "read_card"]),
  restricted: false,
  mayUse: (name) => name === "search" || name === "gone",
  builtIn: BUILT_IN_TOOLS,
  requiredFields: [],
  maxCalls: 3,
  ...more,
});

const fates = (asks: readonly Ask[], more: Partial<AnswerInput> = {}): readonly Fate[] => {
  const plan = planAnswer(input(asks, more));
  return plan.kind === "act" ? plan.fates : [];
};

const summary = (list: readonly Fate[]): string[] =>
  list.map((fate) => `${fate.call.name} ${fate.do}${"error" in fate ? ` ${fate.error.code}` : ""}`);

describe("an answer without calls", () => {
  test("[UTP-10.5-1] its text is the deliverable; nothing said is (no content)", () => {
    expect(planAnswer(input([], { text: "done" }))).toEqual({ kind: "deliver", text: "done" });
    expect(planAnswer(input([], { text: " \n" }))).toEqual({ kind: "deliver", text: "(no content)" });
  });

  test("[UTP-10.5-2] with must_end_with it is reminded instead", () => {
    const plan = planAnswer(input([], { text: "done", mustEndWith: ["submit_result"] }));
    expect(plan).toEqual({ kind: "remind", text: expect.stringContaining("submit_result") });
  });
});

describe("submit_result", () => {
  test("[UTP-10.4-3] alone it ends the turn with what it was given", () => {
    const plan = planAnswer(input([{ name: "submit_result", arguments: { result: { a: 1 } } }]));
    expect(plan).toMatchObject({ kind: "submit", deliverable: { a: 1 } });
  });

  test("[UTP-10.4-1] with bad arguments it fails and the turn goes on", () => {
    expect(summary(fates([{ name: "submit_result" }]))).toEqual(["submit_result fail bad_request"]);
    expect(summary(fates([{ name: "submit_result", arguments: "{" }]))).toEqual(["submit_result fail bad_request"]);
    const requiredFields = [{ name: "x" }];
    expect(summary(fates([{ name: "submit_result", arguments: { result: {} } }], { requiredFields }))).toEqual([
      "submit_result fail bad_request",
    ]);
  });

  test("[UTP-10.3-1] [UTP-W14] beside other calls nothing is executed, and each call gets its failed result", () => {
    const asks = [{ name: "search" }, { name: "submit_result", arguments: { result: 1 } }, { name: "read_card" }];
    expect(summary(fates(asks))).toEqual([
      "search refuse bad_request",
      "submit_result fail bad_request",
      "read_card fail bad_request",
    ]);
    expect(summary(fates([{ name: "submit_result" }, { name: "submit_result" }]))).toHaveLength(2);
  });

  test("[UTP-10.3-2] [UTP-W20-A1] a profile that does not list it cannot use it", () => {
    const offered = new Set(["search"]);
    expect(summary(fates([{ name: "submit_result", arguments: { result: 1 } }], { offered }))).toEqual([
      "submit_result fail auth_failed",
    ]);
  });
});

describe("other calls", () => {
  test.each<[string, Ask, Partial<AnswerInput>, string]>([
    ["offered", { name: "search" }, {}, "search dispatch"],
    ["a built-in one", { name: "read_card" }, {}, "read_card local"],
    ["[UTP-10.3-2] not allowed", { name: "rm" }, {}, "rm refuse auth_failed"],
    ["[UTP-10.3-4] allowed and unknown: the engine says not_found", { name: "gone" }, {}, "gone dispatch"],
    ["[UTP-10.3-3] bad JSON", { name: "search", arguments: "{" }, {}, "search refuse bad_request"],
    [
      "[UTP-10.2-9] not offered in the last step",
      { name: "search" },
      { restricted: true, offered: new Set(["submit_result"]) },
      "search refuse bad_request",
    ],
    [
      "a built-in one that is not offered",
      { name: "read_card" },
      { offered: new Set(["search"]) },
      "read_card fail auth_failed",
    ],
  ])("%s", (_what, ask, more, expected) => {
    expect(summary(fates([ask], more))).toEqual([expected]);
  });

  test("calls above the limit are refused one by one", () => {
    expect(summary(fates(Array.from({ length: 5 }, () => ({ name: "search" }))))).toEqual([
      "search dispatch",
      "search dispatch",
      "search dispatch",
      "search refuse bad_request",
      "search refuse bad_request",
    ]);
  });

  test("[UTP-W14] [UTP-10.3-10] every call has exactly one fate, in order, and nothing forbidden is dispatched", () => {
    const name = fc.constantFrom("search", "gone", "rm", "submit_result", "read_card");
    const ask = fc.record({ name, arguments: fc.oneof(fc.constant({}), fc.constant("{"), fc.jsonValue()) });
    const offered = fc.subarray(["search", "submit_result", "read_card"]);
    fc.assert(
      fc.property(fc.array(ask, { maxLength: 6 }), offered, fc.boolean(), (asks, names, restricted) => {
        const given = input(asks, { offered: new Set(names), restricted });
        const plan = planAnswer(given);
        if (plan.kind === "submit") {
          expect(asks).toHaveLength(1);
          expect(names).toContain("submit_result");
          return;
        }
        const list = plan.kind === "act" ? plan.fates : [];
        expect(list.map(({ call }) => call)).toEqual(given.calls);
        const submits = asks.some((one) => one.name === "submit_result");
        for (const fate of list) {
          if (fate.do === "fail" || fate.do === "refuse") expect(fate.error).toBeInstanceOf(ToolplaneError);
          if (fate.do === "refuse" || fate.do === "dispatch") expect(BUILT_IN_TOOLS.has(fate.call.name)).toBe(false);
          if (fate.do === "dispatch") {
            expect(submits).toBe(false);
            expect(given.mayUse(fate.call.name)).toBe(true);
            expect(given.offered.has(fate.call.name) || !restricted).toBe(true);
          }
        }
      }),
    );
  });
});
