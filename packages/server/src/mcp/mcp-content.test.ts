import type { JsonValue } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { planContent, planFailure, readFailure } from "./mcp-content.ts";

const image = { type: "image", data: "aGk=", mimeType: "image/png" };

describe("a result as MCP content", () => {
  test.each<[string, JsonValue, object]>([
    ["nothing", null, { content: [] }],
    ["a text", "hi", { content: [{ type: "text", text: "hi" }] }],
    ["a number", 7, { content: [{ type: "text", text: "7" }] }],
    ["a list", [1], { content: [{ type: "text", text: "[1]" }] }],
    ["an object", { a: 1 }, { content: [{ type: "text", text: '{"a":1}' }], structuredContent: { a: 1 } }],
    ["blocks", { content: [image] }, { content: [image] }],
    [
      "blocks and a structure",
      { content: [image], structuredContent: { b: 2 }, more: 1 },
      { content: [image], structuredContent: { b: 2 } },
    ],
    [
      "blocks that are none",
      { content: [{ type: "image" }] },
      { content: [{ type: "text", text: '{"content":[{"type":"image"}]}' }] },
    ],
    ["control keys", { a: 1, __cg_control: { after_execution: "terminate" } }, { structuredContent: { a: 1 } }],
  ])("%s", (_what, result, expected) => {
    const planned = planContent(result);
    expect(planned).toMatchObject(expected);
    expect(JSON.stringify(planned)).not.toContain("__cg_");
  });
});

test("a failure says what to do", () => {
  const failure = readFailure(
    { code: "rate_limited", message: "too many", detail: { todo: "wait a second" }, retryable: true },
    "failed",
  );
  const planned = planFailure(failure, { content: [image] });
  expect(planned.isError).toBe(true);
  expect(planned.content).toEqual([
    { type: "text", text: "rate_limited: too many\nWhat to do: wait a second\nThe same call may succeed later." },
    image,
  ]);
  const later = { code: "breaker_open", message: "open", detail: { retry_after_seconds: 30 }, retryable: true };
  expect(planFailure(later).content).toEqual([
    { type: "text", text: "breaker_open: open\nThe same call may succeed in 30 s." },
  ]);
  expect(readFailure("odd", "timeout")).toEqual({ code: "timeout", message: "odd" });
  expect(readFailure(null, "canceled")).toMatchObject({ code: "canceled" });
});
