import { describe, expect, test } from "vitest";
import { codeOf } from "../../test/refusals.ts";
import { cardText, parseCard, parseWritableCard } from "./card.ts";
import { parseCardDto, toCardDto } from "./card-dto.ts";
import { createToolsCard } from "./system-cards.ts";

const base = {
  card_id: "c1",
  project_id: "demo",
  type: "task.instruction",
  content: { __type__: "TextContent", text: "hi" },
  created_at: "2026-01-02T03:04:05.678Z",
  author_id: "helper",
} as const;

const result = {
  ...base,
  type: "tool.result",
  author_id: "tool.text",
  content: {
    __type__: "ToolResultContent",
    status: "success",
    after_execution: "suspend",
    result: { n: 1 },
    error: null,
  },
  metadata: { role: "tool", agent_turn_id: "turn_1", tool_call_id: "tc_1", function_name: "count" },
  tool_call_id: "tc_1",
} as const;

describe("card shape", () => {
  test("[UTP-4.1-C1] optional fields have their defaults", () => {
    expect(parseCard(base)).toEqual({ ...base, metadata: {}, tool_calls: null, tool_call_id: null, ttl_seconds: null });
  });

  const shapes: readonly [string, unknown, string][] = [
    ["[UTP-4.1-C2] an unknown field is refused", { ...base, colour: "red" }, "bad_request"],
    ["[UTP-4.1-C3] meta in place of metadata is refused", { ...base, meta: {} }, "bad_request"],
    ["[UTP-4.1-C4] a missing card_id is refused", { ...base, card_id: undefined }, "bad_request"],
    ["[UTP-4.1-C4] an empty project_id is refused", { ...base, project_id: "" }, "bad_request"],
    ["[UTP-4.1-C4] a blank type is refused", { ...base, type: "" }, "bad_request"],
    ["[UTP-4.1-C4] a missing author is refused", { ...base, author_id: null }, "bad_request"],
    ["[UTP-4.1-C5] created_at must be a date and time", { ...base, created_at: "yesterday" }, "bad_request"],
    [
      "[UTP-4.1-C5] created_at may carry an offset",
      { ...base, created_at: "2026-01-02T03:04:05.123456+02:00" },
      "accepted",
    ],
    ["[UTP-4.1-C6] metadata must be an object", { ...base, metadata: [] }, "bad_request"],
    ["[UTP-4.1-C7] tool_calls are objects", { ...base, tool_calls: ["x"] }, "bad_request"],
    ["[UTP-4.1-C8] ttl_seconds is a whole number", { ...base, ttl_seconds: 1.5 }, "bad_request"],
    [
      "[SEC-4-C9] a card deeper than the cap is refused",
      { ...base, metadata: JSON.parse(`${'{"a":'.repeat(80)}1${"}".repeat(80)}`) },
      "result_not_serializable",
    ],
    [
      "[SEC-4-C10] a card larger than the cap is refused",
      { ...base, content: { __type__: "TextContent", text: "x".repeat(17 * 1024 * 1024) } },
      "result_too_large",
    ],
    ["not an object", "card", "bad_request"],
    ["null", null, "bad_request"],
  ];
  test.each(shapes)("%s", (_name, input, code) => {
    expect(codeOf(() => parseCard(input))).toBe(code);
  });

  test("[UTP-4.1-C9] a parsed card is frozen and shares nothing with its input", () => {
    const input = structuredClone(base) as { content: { text: string } };
    const card = parseCard(input);
    input.content.text = "changed";
    expect(card.content).toEqual(base.content);
    expect(() => Object.assign(card, { type: "x" })).toThrow(TypeError);
    expect(() => Object.assign(card.content, { text: "x" })).toThrow(TypeError);
  });

  test("[SEC-4-C11] __proto__ in a card is dropped", () => {
    const card = parseCard(JSON.parse(JSON.stringify(base).replace('"text":"hi"', '"text":"hi","__proto__":{"x":1}')));
    expect(Object.keys(card.content)).toEqual(["__type__", "text"]);
  });
});

describe("content kinds", () => {
  const failed = { __type__: "ToolResultContent", status: "failed", after_execution: "suspend" };
  const problem = { code: "tool_timeout", message: "too slow", source: "watchdog" };
  const kinds: readonly [string, unknown, string][] = [
    ["[UTP-4.2-C1] content without __type__ is refused", { text: "x" }, "bad_request"],
    ["[UTP-4.2-C1] an unknown __type__ is refused", { __type__: "MagicContent", text: "x" }, "bad_request"],
    ["[UTP-4.2-C1] a bare text is refused", "x", "bad_request"],
    ["[UTP-4.2-C2] TextContent refuses further keys", { __type__: "TextContent", text: "x", more: 1 }, "bad_request"],
    ["[UTP-4.2-C3] JsonContent takes an object", { __type__: "JsonContent", data: { a: 1 } }, "accepted"],
    ["[UTP-4.2-C3] JsonContent takes an array", { __type__: "JsonContent", data: [1] }, "accepted"],
    ["[UTP-4.2-C3] JsonContent refuses a scalar", { __type__: "JsonContent", data: 1 }, "bad_request"],
    ["[UTP-4.2-C3] JsonContent refuses null", { __type__: "JsonContent", data: null }, "bad_request"],
    ["[UTP-4.2-C4] a field needs a name", { __type__: "FieldsSchemaContent", fields: [{ name: " " }] }, "bad_request"],
    [
      "[UTP-4.2-C5] ToolCallContent",
      { __type__: "ToolCallContent", tool_name: "t", arguments: {}, status: "called", target_subject: null },
      "accepted",
    ],
    [
      "[UTP-4.2-C5] arguments are an object",
      { __type__: "ToolCallContent", tool_name: "t", arguments: [], status: "called", target_subject: null },
      "bad_request",
    ],
    ["[UTP-4.2-C6] ToolResultContent with an error", { ...failed, result: null, error: problem }, "accepted"],
    ["[UTP-4.2-C6] status must not be blank", { ...failed, status: " ", error: problem }, "bad_request"],
    [
      "[UTP-4.2-C7] after_execution is suspend or terminate",
      { ...failed, after_execution: "later", error: problem },
      "bad_request",
    ],
    ["[UTP-4.2-C8] not success needs an error", { ...failed, error: null }, "bad_request"],
    ["[UTP-4.2-C8] the error needs a code", { ...failed, error: { code: "", message: "x" } }, "bad_request"],
    ["[UTP-4.2-C8] the error needs a message", { ...failed, error: { code: "x" } }, "bad_request"],
    ["[UTP-4.2-C8] the error is an object", { ...failed, error: "x" }, "bad_request"],
    ["[UTP-4.2-C9] success has no error", { ...failed, status: "success", error: problem }, "bad_request"],
    ["[UTP-4.2-C10] ToolContent", { __type__: "ToolContent", tools: [{ type: "function" }] }, "accepted"],
    [
      "[UTP-4.2-C11] a file is carried with what it says",
      { __type__: "PdfFileContent", uri: "gs://x", checksum: "1", etag: "e" },
      "accepted",
    ],
  ];
  test.each(kinds)("%s", (_name, content, code) => {
    expect(codeOf(() => parseCard({ ...base, content }))).toBe(code);
  });

  test("[UTP-4.2-C12] names and descriptions of fields are trimmed, a description may be missing", () => {
    const card = parseCard({
      ...base,
      content: { __type__: "FieldsSchemaContent", fields: [{ name: " a ", description: " b " }, { name: "c" }] },
    });
    expect(card.content).toMatchObject({
      fields: [
        { name: "a", description: "b" },
        { name: "c", description: "" },
      ],
    });
  });

  test("[UTP-4.2-C13] status is trimmed, result and error may be left out", () => {
    const card = parseCard({
      ...base,
      content: { __type__: "ToolResultContent", status: " success ", after_execution: "suspend" },
    });
    expect(card.content).toEqual({
      __type__: "ToolResultContent",
      status: "success",
      after_execution: "suspend",
      result: null,
      error: null,
    });
  });
});

describe("conventions on writing", () => {
  const writes: readonly [string, unknown, string][] = [
    [
      "[UTP-4.3-C1] a tool.result holds a ToolResultContent",
      { ...result, content: base.content },
      "protocol_violation",
    ],
    [
      "[UTP-4.3-C1] a tool.call holds a ToolCallContent",
      { ...result, type: "tool.call", content: { __type__: "JsonContent", data: {} } },
      "protocol_violation",
    ],
    [
      "[UTP-4.3-C2] a tool.result needs a call id",
      { ...result, tool_call_id: null, metadata: { function_name: "x" } },
      "protocol_violation",
    ],
    ["[UTP-4.3-C2] a tool.result cannot name two calls", { ...result, tool_call_id: "tc_2" }, "protocol_violation"],
    [
      "[UTP-4.3-C3] a tool.result names its function",
      { ...result, metadata: { ...result.metadata, function_name: " " } },
      "protocol_violation",
    ],
    [
      "[UTP-8.1-C1] a tool.result is written with one of the five statuses",
      { ...result, content: { ...result.content, status: "done", error: { code: "x", message: "y" } } },
      "protocol_violation",
    ],
    [
      "[UTP-4.3-C4] a type nobody knows is free",
      { ...base, type: "acme.note", content: { __type__: "JsonContent", data: [] } },
      "accepted",
    ],
    ["a proper tool.result", result, "accepted"],
    ["a proper instruction", base, "accepted"],
  ];
  test.each(writes)("%s", (_name, input, code) => {
    expect(codeOf(() => parseWritableCard(input))).toBe(code);
  });
});

describe("text", () => {
  test("[INV-I7-C3] absent optional fields and explicit nulls are the same card", () => {
    const bare = parseCard(base);
    const spelled = parseCard({ ...base, metadata: {}, tool_calls: null, tool_call_id: null, ttl_seconds: null });
    expect(cardText(bare)).toBe(cardText(spelled));
  });

  test("[INV-I7-C4] every field takes part in the text that is hashed", () => {
    const card = parseCard(result);
    const others = [
      { ...card, card_id: "c2" },
      { ...card, project_id: "other" },
      { ...card, type: "x" },
      { ...card, author_id: "x" },
      { ...card, created_at: "2027-01-02T03:04:05.678Z" },
      { ...card, metadata: {} },
      { ...card, tool_call_id: "x" },
      { ...card, tool_calls: [{}] },
      { ...card, ttl_seconds: 1 },
      { ...card, content: { __type__: "TextContent", text: "" } as const },
    ];
    const texts = new Set([card, ...others].map((one) => cardText(one)));
    expect(texts.size).toBe(others.length + 1);
  });

  test("[INV-I7-C5] the text is canonical and reads back as the card", () => {
    const card = parseCard(result);
    expect(parseCard(JSON.parse(cardText(card)))).toEqual(card);
    expect(cardText(card)).toMatch(/^\{"author_id":"tool.text","card_id":"c1","content":\{"__type__"/);
  });
});

describe("the HTTP view", () => {
  test("[UTP-4.2-C14] content is shown without __type__ and read back with it", () => {
    const card = parseCard(result);
    const dto = toCardDto(card);
    expect(dto.content).toEqual({ status: "success", after_execution: "suspend", result: { n: 1 }, error: null });
    expect(parseCardDto(dto)).toEqual(card);
    expect(parseCardDto(toCardDto(parseCard(base)))).toEqual(parseCard(base));
    expect(parseCardDto(card)).toEqual(card);
  });

  test("[UTP-4.2-C15] a tool list is shown as JSON", () => {
    const card = createToolsCard({
      cardId: "c",
      projectId: "p",
      createdAt: base.created_at,
      tools: [{ type: "function" }],
    });
    expect(toCardDto(card).content).toEqual({ data: { tools: [{ type: "function" }] } });
    expect(parseCardDto(toCardDto(card))).toEqual(card);
  });

  test("content whose kind cannot be told is refused", () => {
    expect(codeOf(() => parseCardDto({ ...base, type: "acme.note", content: { odd: 1 } }))).toBe("bad_request");
    expect(codeOf(() => parseCardDto({ ...base, type: "acme.note", content: { data: [] } }))).toBe("accepted");
    expect(codeOf(() => parseCardDto(undefined))).not.toBe("accepted");
  });
});
