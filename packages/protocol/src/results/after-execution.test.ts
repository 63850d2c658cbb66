import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ToolResultContent } from "../cards/content.ts";
import type { JsonValue } from "../json/json-value.ts";
import { aggregateStep, effectiveAfterExecution, taskErrorText } from "./after-execution.ts";
import { readOverride, stripControl, writeOverride } from "./control.ts";
import { AFTER_EXECUTIONS, RESULT_STATUSES } from "./value-sets.ts";

const content = (after: "suspend" | "terminate", result: JsonValue = null, status = "success"): ToolResultContent => ({
  __type__: "ToolResultContent",
  status,
  after_execution: after,
  result,
  error: status === "success" ? null : { code: "c", message: "m" },
});

describe("effective after_execution", () => {
  const overrides: readonly [string, JsonValue, "suspend" | "terminate"][] = [
    ["a valid override wins", { __cg_control: { after_execution: "terminate" } }, "terminate"],
    ["blanks around it are trimmed", { __cg_control: { after_execution: " terminate " } }, "terminate"],
    ["another word does not count", { __cg_control: { after_execution: "TERMINATE" } }, "suspend"],
    ["a control that is a list does not count", { __cg_control: ["terminate"] }, "suspend"],
    ["a result that is a list does not count", [{ __cg_control: { after_execution: "terminate" } }], "suspend"],
    ["deeper down it is data", { in: { __cg_control: { after_execution: "terminate" } } }, "suspend"],
    ["a text does not count", "terminate", "suspend"],
  ];
  test.each(overrides)("[UTP-7.5-C1] %s", (_name, result, effective) => {
    expect(effectiveAfterExecution(content("suspend", result))).toBe(effective);
  });

  test("[UTP-D12-C1] an override beats the card in both directions", () => {
    expect(effectiveAfterExecution(content("terminate", { __cg_control: { after_execution: "suspend" } }))).toBe(
      "suspend",
    );
  });

  test("an inherited control is none", () => {
    expect(readOverride(Object.create({ __cg_control: { after_execution: "terminate" } }))).toBeUndefined();
  });
});

describe("aggregate over a step", () => {
  const results = fc.array(
    fc
      .record({
        after: fc.constantFrom(...AFTER_EXECUTIONS),
        wish: fc.option(fc.constantFrom(...AFTER_EXECUTIONS)),
        status: fc.constantFrom(...RESULT_STATUSES),
      })
      .map(({ after, wish, status }) => content(after, wish === null ? {} : writeOverride({}, wish), status)),
    { maxLength: 8 },
  );

  test("[UTP-7.5-C2] the verdict does not depend on the order of results", () => {
    fc.assert(
      fc.property(
        results.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length }))),
        ([list, shuffled]) => {
          const verdict = aggregateStep(list);
          expect(aggregateStep(shuffled).afterExecution).toBe(verdict.afterExecution);
          expect(verdict.afterExecution).toBe(
            list.some((one) => effectiveAfterExecution(one) === "terminate") ? "terminate" : "suspend",
          );
          expect(aggregateStep(shuffled).taskStatus === "success").toBe(verdict.taskStatus === "success");
        },
      ),
    );
  });

  test("[UTP-7.5-C3] [UTP-8.9-C3] the primary is the first failed result that says terminate, else the first that does", () => {
    const good = content("terminate", 1);
    const bad = content("terminate", 2, "timeout");
    const loud = content("suspend", 3, "failed");
    expect(aggregateStep([loud, good, bad])).toEqual({
      afterExecution: "terminate",
      primary: bad,
      taskStatus: "timeout",
    });
    expect(aggregateStep([good, loud])).toMatchObject({ primary: good, taskStatus: "success" });
    expect(aggregateStep([loud])).toEqual({ afterExecution: "suspend", primary: undefined, taskStatus: undefined });
    expect(aggregateStep([])).toMatchObject({ afterExecution: "suspend" });
  });

  test("a status nobody knows counts as failed in the task event", () => {
    expect(aggregateStep([content("terminate", null, "odd")]).taskStatus).toBe("failed");
  });
});

describe("task error text", () => {
  const failed = (error: JsonValue, result: JsonValue = null): ToolResultContent => ({
    ...content("suspend", result, "failed"),
    error,
  });
  const texts: readonly [string, ToolResultContent, string | undefined][] = [
    ["nothing for success", content("suspend"), undefined],
    ["the error's message", failed({ code: "c", message: "m" }), "m"],
    ["else its code", failed({ code: "c", message: " " }), "c"],
    ["else the result's error_message", failed(null, { error_code: "rc", error: "re", error_message: "rm" }), "rm"],
    ["else the result's error", failed(null, { error_code: "rc", error: "re" }), "re"],
    ["else the result's error_code", failed(null, { error_code: "rc", error: {} }), "rc"],
    ["else the status", failed(null), "failed"],
  ];
  test.each(texts)("[UTP-7.5-C4] %s", (_name, one, text) => {
    expect(taskErrorText(one)).toBe(text);
  });
});

describe("control namespace", () => {
  test("[SEC-5-C1] every __cg_ key at the top of a foreign body is stripped and named", () => {
    const body = { a: 1, __cg_control: { after_execution: "terminate" }, __cg_x: 1, _cg: 2 };
    expect(stripControl(body)).toEqual({ value: { a: 1, _cg: 2 }, stripped: ["__cg_control", "__cg_x"] });
    expect(Object.keys(body)).toHaveLength(4);
  });

  test("[SEC-5-C2] deeper keys are data and stay; other bodies are untouched", () => {
    const deep = { in: { __cg_control: 1 } };
    expect(stripControl(deep).value).toBe(deep);
    for (const body of ["__cg_control", [{ __cg_control: 1 }], null, 5])
      expect(stripControl(body)).toEqual({ value: body, stripped: [] });
  });

  test("[SEC-5-C3] a stripped body can never end a turn", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...AFTER_EXECUTIONS), (body, wish) => {
        const hostile = writeOverride(body as JsonValue, wish);
        expect(readOverride(hostile)).toBe(wish);
        expect(readOverride(stripControl(hostile).value)).toBeUndefined();
      }),
    );
  });
});
