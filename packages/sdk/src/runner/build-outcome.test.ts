import { parseWritableCard } from "@toolplane/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createScrubber } from "../secrets/scrubber.ts";
import { toolResult } from "../tools/tool-result.ts";
import { buildFailed, buildValue, type OutcomeInput, sessionStateOf, viewsOf } from "./build-outcome.ts";

const SECRET = "s3cr3t-value";
const input = (change: Partial<OutcomeInput> = {}): OutcomeInput => ({
  context: {
    cardId: "card_r",
    createdAt: "2026-11-15T00:00:00.000Z",
    projectId: "demo",
    agentTurnId: "turn_1",
    toolCallId: "call_1",
    authorId: "tool.text",
    toolName: "count_words",
    afterExecution: "suspend",
    toolCallMetadata: { step_id: "step_1", trace_id: "t", parent_step_id: "step_0", other: 1 },
    definitionHash: "hash_1",
    source: "tool",
  },
  scrubber: createScrubber(new Map([["KEY", SECRET]])),
  control: "allow",
  maxResultBytes: 1_000,
  ...change,
});

describe("what a tool returned", () => {
  test.each([
    ["an object", { words: 3 }, { words: 3 }],
    ["nothing", undefined, null],
    ["null", null, null],
    ["a text", "three", "three"],
    ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ])("[UTP-8.3-8] %s becomes a success", (_name, value, result) => {
    expect(buildValue(input(), value).content).toMatchObject({ status: "success", result, error: null });
  });

  test("[UTP-8.3-10] a prepared result is used as it is", () => {
    const error = { code: "half", message: "half of it" };
    const { content, payload } = buildValue(
      input(),
      toolResult({ status: "partial", result: [1], error, afterExecution: "terminate" }),
    );
    expect(content).toMatchObject({
      status: "partial",
      after_execution: "suspend",
      result: { value: [1], __cg_control: { after_execution: "terminate" } },
      error,
    });
    expect(payload).toEqual({ status: "partial", after_execution: "suspend", tool_result_card_id: "card_r" });
  });

  test("data that looks like a prepared result is data", () => {
    const value = { fields: { status: "failed", error: "x" } };
    expect(buildValue(input(), value).content).toMatchObject({ status: "success", result: value });
  });

  test("[ARCH-7-7] [UTP-8.2-1] the card: author, lineage copied, function name, the definition the code ran under", () => {
    const card = buildValue(input(), 1).card();
    expect(card).toMatchObject({ type: "tool.result", author_id: "tool.text", tool_call_id: "call_1" });
    expect(card.metadata).toEqual({
      step_id: "step_1",
      trace_id: "t",
      parent_step_id: "step_0",
      agent_turn_id: "turn_1",
      tool_call_id: "call_1",
      function_name: "count_words",
      definition_hash: "hash_1",
      role: "tool",
    });
  });

  test.each([
    [
      "a cycle",
      () =>
        Object.assign(
          {},
          {
            get self() {
              return this;
            },
          },
        ),
    ],
    ["a NUL", () => "a\0b"],
    ["a Map", () => new Map([[1, 2]])],
    ["infinity", () => ({ n: Infinity })],
  ])("%s is result_not_serializable", (_name, make) => {
    expect(buildValue(input(), make()).content).toMatchObject({
      status: "failed",
      error: { code: "result_not_serializable" },
    });
  });

  test("whatever a tool returns, a card that can be stored comes out", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(() => parseWritableCard(buildValue(input(), value).card())).not.toThrow();
      }),
    );
  });
});

describe("control keys", () => {
  const body = { ok: true, __cg_control: { after_execution: "terminate" }, __cg_x: 1 };

  test("[SEC-5-S1] an executor that relays foreign bodies strips them", () => {
    expect(buildValue(input({ control: "strip" }), body).content.result).toEqual({ ok: true });
  });

  test("[SEC-5-S1] a tool's own result keeps them", () => {
    expect(buildValue(input(), body).content.result).toEqual(body);
  });
});

describe("secrets", () => {
  test("[INV-I8-S1] are in no result, error or detail", () => {
    const results = [
      buildValue(input(), { [SECRET]: [`x${SECRET}`] }),
      buildValue(
        input(),
        toolResult({ status: "failed", error: { code: "odd", message: SECRET, detail: { at: SECRET } } }),
      ),
      buildValue(input(), { [SECRET]: Infinity }),
      buildValue(input(), { text: `${"x".repeat(1_990)}${SECRET}${"x".repeat(5_000)}` }),
      buildFailed(input(), { code: "odd", message: `no ${SECRET}`, detail: { url: `?k=${SECRET}` } }),
      buildFailed(input(), new Error(SECRET)),
    ];
    for (const result of results) {
      const card = result.card();
      const text = JSON.stringify(card);
      expect(text).not.toContain("s3cr3t");
      expect(() => parseWritableCard(card)).not.toThrow();
    }
  });
});

describe("large results", () => {
  test("[SEC-15-S1] up to the limit the whole result stays in the card", () => {
    const value = "x".repeat(990);
    expect(buildValue(input(), value).content).toMatchObject({ status: "success", result: value });
  });

  test.each([
    ["by its characters", "x".repeat(5_000), 5_002],
    ["by its bytes", "ü".repeat(600), 1_202],
    ["an object", { list: Array.from({ length: 500 }, (_, i) => i) }, 1_900],
  ])("[SEC-15-S1] over it: result_too_large with its size and its beginning: %s", (_name, value, bytes) => {
    const { content, card: makeCard } = buildValue(input(), value);
    const card = makeCard();
    expect(content).toMatchObject({
      status: "failed",
      error: { code: "result_too_large", detail: { bytes, max_bytes: 1_000 } },
    });
    const { preview } = (content.error as { detail: { preview: string } }).detail;
    expect(JSON.stringify(value).startsWith(preview)).toBe(true);
    expect(preview.length).toBe(Math.min(2_000, JSON.stringify(value).length));
    expect(() => parseWritableCard(card)).not.toThrow();
  });
});

describe("failures", () => {
  test("[UTP-8.3-9] an error is in the card's error and shown in its result", () => {
    const { content } = buildFailed(input(), new Error("boom"));
    expect(content).toMatchObject({
      status: "failed",
      error: { code: "internal_error", message: "boom", source: "tool" },
      result: { error_code: "internal_error", error_message: "boom" },
    });
  });
});

test.each([
  [
    "of a success is kept, scrubbed",
    toolResult({ status: "success", sessionState: { n: 1, k: SECRET } }),
    { n: 1, k: "[redacted KEY]" },
  ],
  ["of a failure is not", toolResult({ status: "failed", error: "x", sessionState: { n: 1 } }), undefined],
  ["that is not JSON is not", toolResult({ status: "success", sessionState: { n: Infinity } }), undefined],
  ["nobody gave", { n: 1 }, undefined],
])("[HOST-4-S1] session state %s", (_name, value, state) => {
  const { content } = buildValue(input(), value);
  expect(sessionStateOf(value, content, input().scrubber)).toEqual(state);
});

test.each<[string, unknown, unknown]>([
  [
    "are kept, clean of secrets",
    toolResult({ status: "success", views: { model: `key ${SECRET}`, preview: "p" } }),
    { model: expect.not.stringContaining(SECRET), preview: "p" },
  ],
  ["of a failure are not", toolResult({ status: "failed", error: "x", views: { preview: "p" } }), undefined],
  ["that are none are not", toolResult({ status: "success", views: { preview: "\ud800" } }), undefined],
  ["of a plain value are none", { views: { model: "m" } }, undefined],
])("[HOST-2-V1] views %s", (_name, value, views) => {
  const { content } = buildValue(input(), value);
  expect(viewsOf(value, content, input().scrubber)).toEqual(views);
});
