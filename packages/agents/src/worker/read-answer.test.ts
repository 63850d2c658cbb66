import { ToolplaneError } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { readAnswer } from "./read-answer.ts";

test("[UTP-W35-T1] what cannot be stored is mended", () => {
  const given = {
    text: "a\u0000b\ud800",
    reasoning: "\u0000",
    toolCalls: [],
    usage: { tokens: Number.NaN },
    cost: Number.POSITIVE_INFINITY,
    model: "m\u0000",
  };
  expect(readAnswer(given)).toEqual({ text: "a\ufffdb\ufffd", reasoning: "\ufffd", toolCalls: [], model: "m\ufffd" });
  expect(readAnswer({ text: "", toolCalls: [], usage: { a: 1 }, cost: 0 })).toMatchObject({ usage: { a: 1 }, cost: 0 });
});

test("[UTP-W35-T2] what is too large beside an answer is left out, or cut", () => {
  const long = "x".repeat(200_000);
  const { usage, model, reasoning } = readAnswer({
    text: "",
    toolCalls: [],
    usage: { long },
    model: long,
    reasoning: long,
  });
  expect(usage).toBeUndefined();
  expect(model).toHaveLength(200);
  expect(reasoning?.length).toBeLessThan(100_000);
});

test.each([undefined, null, "text", {}, { text: "x" }, { text: 1, toolCalls: [] }, { text: "x", toolCalls: {} }])(
  "[UTP-W35-T1] an answer that is none is refused: %j",
  (answer) => {
    expect(() => readAnswer(answer)).toThrow(ToolplaneError);
  },
);
