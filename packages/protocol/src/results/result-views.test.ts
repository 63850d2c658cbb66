import { expect, test } from "vitest";
import type { Card } from "../cards/card.ts";
import { projectCards } from "../cards/projection.ts";
import { MAX_VIEWS_BYTES, readModelView, tryParseViews } from "./result-views.ts";

const ENVELOPE = { type: "provider_native_tool_result", format: "openai.responses", output: [{ type: "text" }] };

test.each<[string, unknown, unknown]>([
  ["all three", { model: "a", display: { b: 1 }, preview: "c" }, { model: "a", display: { b: 1 }, preview: "c" }],
  ["the explicit envelope", { model: ENVELOPE }, { model: ENVELOPE }],
  ["nothing", {}, undefined],
  ["not even an object", "views", undefined],
  ["an ordinary object for a model", { model: { type: "text" }, preview: "c" }, { preview: "c" }],
  ["an envelope of an unknown format", { model: { ...ENVELOPE, format: "x" } }, undefined],
  ["display that is not an object", { display: [1] }, undefined],
  ["unknown keys", { model: "a", __cg_control: { after_execution: "terminate" } }, { model: "a" }],
  ["a NUL", { model: "a\u0000" }, undefined],
  ["a lone surrogate", { preview: "\ud800" }, undefined],
  ["too much", { model: "x".repeat(MAX_VIEWS_BYTES) }, undefined],
])("[HOST-2-V1] views are kept as far as they are views: %s", (_what, given, kept) => {
  expect(tryParseViews(given)).toEqual(kept);
});

const resultCard = (views: unknown, status = "success"): Card =>
  ({
    type: "tool.result",
    content: {
      __type__: "ToolResultContent",
      status,
      after_execution: "suspend",
      result: { raw: 1 },
      error: status === "success" ? null : { code: "x", message: "y" },
    },
    tool_call_id: "c1",
    tool_calls: null,
    metadata: { views },
  }) as unknown as Card;

test.each<[string, Card, object]>([
  ["its text", resultCard({ model: "for models" }), { content: "for models" }],
  ["its envelope", resultCard({ model: ENVELOPE }), { content: JSON.stringify(ENVELOPE), native: ENVELOPE }],
  ["the raw value when the tool says nothing", resultCard({}), { content: '{"raw":1}' }],
  [
    "the error of a failure, whatever its views",
    resultCard({ model: "fine" }, "failed"),
    { content: expect.stringContaining("error") },
  ],
])("[HOST-2-V1] a model reads %s", (_what, card, expected) => {
  expect(projectCards([card]).messages).toEqual([{ role: "tool", tool_call_id: "c1", ...expected }]);
});

test("[HOST-2-V1] a stranger's metadata is not a view", () => {
  for (const views of [null, 7, "x", { model: 7 }, { model: { a: 1 } }, []])
    expect(readModelView({ views } as never)).toBeUndefined();
});
