import { describe, expect, test } from "vitest";
import { setUp } from "../../../test/ai-run.ts";

const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 40 },
  completion_tokens_details: { reasoning_tokens: 5 },
};

describe.each([
  ["a stream", true],
  ["one piece", false],
])("an answer in %s", (_name, stream) => {
  test("[ARCH-9-A1] text, reasoning, usage, model", async () => {
    const run = await setUp([{ text: "Good morning to you.", reasoning: "They greet me.", usage: USAGE }], { stream });
    expect(await run.think()).toEqual({
      text: "Good morning to you.",
      reasoning: "They greet me.",
      toolCalls: [],
      model: "test-model",
      usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, cached_tokens: 40, reasoning_tokens: 5 },
    });
    const said = (kind: string) => run.pieces.filter((piece) => piece.kind === kind).map(({ text }) => text);
    expect(said("content").join("")).toBe("Good morning to you.");
    expect(said("reasoning").join("")).toBe("They greet me.");
    expect(said("content").length > 1).toBe(stream);
  });

  test("[ARCH-9-A2] parallel tool calls, arguments in fragments, in order and with the provider's ids", async () => {
    const toolCalls = [
      { id: "call_1", name: "count_words", arguments: { text: "one two three and some more" } },
      { id: "call_2", name: "echo", arguments: { text: "\u00e4\u{1f600}", n: [1, { a: null }] } },
      { id: "call_3", name: "echo" },
    ];
    const run = await setUp([{ text: "Let me see.", toolCalls }], { stream });
    const answer = await run.think();
    expect(answer.text).toBe("Let me see.");
    expect(answer.toolCalls).toEqual(toolCalls.map((call) => ({ arguments: {}, ...call })));
    expect(run.pieces.filter(({ kind }) => kind === "tool_call").map(({ text }) => text)).toEqual([
      "count_words",
      "echo",
      "echo",
    ]);
  });

  test.each([
    ["not JSON", '{"text": "half'],
    ["a list", "[1, 2]"],
  ])("[ARCH-9-A3] arguments that are %s are passed on, and so is a tool nobody offered", async (_kind, text) => {
    const run = await setUp(
      [
        {
          toolCalls: [
            { id: "a", name: "echo", arguments: text },
            { id: "b", name: "nobody", arguments: { x: 1 } },
          ],
        },
      ],
      { stream },
    );
    const { toolCalls } = await run.think();
    expect(toolCalls[0]?.name).toBe("echo");
    const passed = toolCalls[0]?.arguments;
    expect(typeof passed === "string" ? passed : JSON.stringify(passed)).toBe(
      typeof passed === "string" ? text : JSON.stringify(JSON.parse(text)),
    );
    expect(toolCalls[1]).toEqual({ id: "b", name: "nobody", arguments: { x: 1 } });
  });
});

describe("cost", () => {
  test.each<[string, object, object, number | undefined]>([
    ["is the provider's own", { ...USAGE, cost: 0.0123 }, {}, 0.0123],
    [
      "is computed from the profile's prices",
      USAGE,
      { price: { input: 2, output: 10, cached_input: 0.5 } },
      (60 * 2 + 40 * 0.5 + 20 * 10) / 1e6,
    ],
    ["is absent without either", USAGE, {}, undefined],
    ["is absent when a price is missing", USAGE, { price: { input: 2 } }, undefined],
  ])("[ARCH-9-A9] %s", async (_name, usage, options, cost) => {
    const run = await setUp([{ text: "x", usage: usage as never }], { provider_options: options });
    expect((await run.think()).cost).toBe(cost);
    expect(run.server.requests[0]?.body).not.toHaveProperty("price");
  });
});

test("[ARCH-9-A10] a model that calls no tool though it must is asked again, then it is a failure", async () => {
  const run = await setUp([{ text: "x" }], { tool_choice: "required" });
  await expect(run.think()).rejects.toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringContaining("tool_choice"),
  });
  expect(run.server.requests).toHaveLength(3);
});

test("[ARCH-9-A10] the settings of the profile are sent, and what it does not say is not", async () => {
  const config = {
    temperature: 0.2,
    top_p: 0.9,
    max_tokens: 77,
    stop: "END",
    reasoning_effort: "low",
    tool_choice: "required",
    provider_options: { seed_hint: "x" },
  };
  const run = await setUp([{ toolCalls: [{ id: "a", name: "echo" }] }], config);
  await run.think();
  expect(run.server.requests[0]?.body).toMatchObject({
    model: "test-model",
    temperature: 0.2,
    top_p: 0.9,
    max_tokens: 77,
    stop: ["END"],
    reasoning_effort: "low",
    tool_choice: "required",
    seed_hint: "x",
    stream: true,
    stream_options: { include_usage: true },
  });
  expect(run.server.requests[0]?.messages[0]).toEqual({ role: "system", content: "You test." });
  const bare = await setUp([{ text: "x" }]);
  await bare.think();
  for (const key of ["temperature", "top_p", "max_tokens", "stop", "reasoning_effort"]) {
    expect(bare.server.requests[0]?.body).not.toHaveProperty(key);
  }
});
