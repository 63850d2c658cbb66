import { describe, expect, test } from "vitest";
import { answerable, neededCapabilities, planAnswers, readAnswers, readQuestions, readVerdict } from "./mcp-input.ts";

const QUESTION = { method: "elicitation/create", params: { message: "sure?" } } as const;
const asks = (input: unknown) => ({ status: "success", result: { __cg_input: input } }) as never;

describe("questions of a tool", () => {
  test("are read from a successful result only, and only when they are questions", () => {
    expect(readQuestions(asks({ requests: { sure: QUESTION }, state: 1 }))).toEqual({
      requests: { sure: QUESTION },
      state: 1,
    });
    for (const wrong of [{}, { requests: {} }, { requests: { a: { method: "tools/call" } } }, "text", null])
      expect(readQuestions(asks(wrong))).toBeUndefined();
    expect(
      readQuestions({ status: "failed", result: { __cg_input: { requests: { sure: QUESTION } } } }),
    ).toBeUndefined();
    expect(readQuestions(undefined)).toBeUndefined();
  });

  test("are put only to a client that can answer them", () => {
    const both = { requests: { sure: QUESTION, roots: { method: "roots/list" as const } } };
    expect(Object.keys(answerable(both, { elicitation: {} }))).toEqual(["sure"]);
    expect(answerable(both, undefined)).toEqual({});
    expect(neededCapabilities(both)).toEqual({ elicitation: {}, roots: {} });
  });
});

test("answers are objects, and go into the parameter beside the arguments", () => {
  expect(readAnswers({ sure: 1 })).toBeUndefined();
  expect(readAnswers(undefined)).toEqual({});
  const answers = readAnswers({ sure: { action: "accept" } }) ?? {};
  expect(planAnswers(answers, 7)).toEqual({ responses: { sure: { action: "accept" } }, state: 7 });
  expect(planAnswers(answers)).toEqual({ responses: { sure: { action: "accept" } } });
});

test.each([
  [
    { action: "accept", content: { approve: true } },
    { verb: "approve", reason: undefined },
  ],
  [
    { action: "accept", content: { approve: false, reason: "no" } },
    { verb: "deny", reason: "no" },
  ],
  [{ action: "decline" }, { verb: "deny", reason: undefined }],
  [{ action: "cancel" }, undefined],
  [{ action: "accept", content: { approve: "yes" } }, undefined],
  [{ approve: true }, undefined],
])("the answer %j about a call that waits", (approval, verdict) => {
  expect(readVerdict({ approval } as never)).toEqual(verdict);
});
