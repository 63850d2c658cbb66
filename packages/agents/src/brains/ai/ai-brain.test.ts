import { type ModelReply, type ModelServer, startModelServer } from "@toolplane/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { testRequest } from "../../../test/brain-request.ts";
import { createTestClock } from "../../../test/test-clock.ts";
import { createBrainSource } from "../brain-source.ts";

const KEY = "sk-s3cr3t-0123456789";
const TOOLS = ["count_words", "echo"].map((name) => ({
  type: "function" as const,
  function: { name, description: `${name}.`, parameters: { type: "object", properties: { text: { type: "string" } } } },
}));

let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const setUp = async (replies: readonly ModelReply[], config: object = {}) => {
  server = await startModelServer(replies);
  const clock = createTestClock();
  const logged: string[] = [];
  const write = (message: string, fields?: object): number => logged.push(JSON.stringify([message, fields]));
  const source = createBrainSource({
    clock,
    secret: (name) => (name === "MODEL_KEY" ? KEY : undefined),
    log: { info: write, warn: write, error: write },
  });
  const given = testRequest(
    { tools: TOOLS },
    { model: "test-model", api_base: server.url, api_key: "env:MODEL_KEY", ...config },
  );
  const think = async () => (await source(given.request.profile)).think(given.request);
  return { ...given, clock, think, logged, server };
};

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

  test.each<[string, ModelReply, string, string]>([
    [
      "400",
      { status: 400, body: { error: { message: `bad ${KEY}`, code: "context_length_exceeded" } } },
      "bad_request",
      "(HTTP 400, context_length_exceeded)",
    ],
    ["401", { status: 401 }, "auth_failed", "(HTTP 401, test_error)"],
    ["403", { status: 403 }, "auth_failed", "(HTTP 403, test_error)"],
    ["404", { status: 404 }, "not_found", "(HTTP 404, test_error)"],
    ["413", { status: 413 }, "payload_too_large", "(HTTP 413, test_error)"],
    [
      "a redirect",
      { status: 302, headers: { location: "http://127.0.0.1:1/elsewhere" } },
      "upstream_unavailable",
      "redirects",
    ],
  ])("[ARCH-9-A4] %s is final and said in one sentence of ours", async (_status, reply, code, words) => {
    const run = await setUp([reply, { text: "never" }], { stream });
    const error = await run.think().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) });
    expect(JSON.stringify([error, (error as Error).message, (error as Error).cause])).not.toMatch(
      /words of the endpoint|s3cr3t/,
    );
    expect(run.server.requests).toHaveLength(1);
    expect(run.clock.sleeps).toEqual([]);
  });

  test.each<[string, ModelReply, string]>([
    ["429", { status: 429 }, "rate_limited"],
    ["500", { status: 500 }, "upstream_unavailable"],
    ["503", { status: 503 }, "upstream_unavailable"],
    ["a dropped connection", { drop: true }, "upstream_unavailable"],
    [
      "a connection cut in the middle",
      { text: "a long text that breaks off", trouble: { afterChunks: 3, kind: "cut" } },
      "upstream_unavailable",
    ],
  ])("[UTP-10.2-11] %s is tried three times, 2 and 4 seconds apart", async (_status, reply, code) => {
    const run = await setUp([reply], { stream });
    await expect(run.think()).rejects.toMatchObject({ code });
    expect(run.server.requests).toHaveLength(3);
    expect(run.clock.sleeps).toEqual([2000, 4000]);
  });

  test("[UTP-10.2-11] what passes on the second attempt is the answer", async () => {
    const run = await setUp([{ status: 503 }, { text: "here" }], { stream });
    expect((await run.think()).text).toBe("here");
    expect(run.server.requests).toHaveLength(2);
  });

  test.each([
    ["seconds", { "retry-after": "7" }, [7000, 7000]],
    ["milliseconds", { "retry-after-ms": "2500" }, [2500, 4000]],
    ["less than our own", { "retry-after": "1" }, [2000, 4000]],
    ["longer than anybody waits", { "retry-after": "3600" }, []],
  ])("[ARCH-9-A5] Retry-After in %s is respected", async (_kind, headers, sleeps) => {
    const run = await setUp([{ status: 429, headers }], { stream });
    await expect(run.think()).rejects.toMatchObject({ code: "rate_limited" });
    expect(run.clock.sleeps).toEqual(sleeps);
  });

  test("[ARCH-9-A6] a stop interrupts the model call at once", async () => {
    const run = await setUp([{ hang: true }], { stream });
    const answer = run.think();
    await expect.poll(() => run.server.requests.length).toBe(1);
    run.stop.abort();
    await expect(answer).rejects.toMatchObject({ code: "canceled" });
    await expect.poll(() => run.server.requests[0]?.gone.aborted).toBe(true);
    expect(run.server.requests).toHaveLength(1);
  });

  test("[ARCH-9-A7] an endpoint that says nothing is given up and asked again", async () => {
    const run = await setUp([{ hang: true }, { hang: true }, { text: "at last" }], {
      stream,
      provider_options: { timeout_seconds: 30 },
    });
    // The test clock ends a sleep of 30 s at once; it would do so for the good answer too, so only the verdict counts here.
    await expect(run.think()).rejects.toMatchObject({
      code: "upstream_unavailable",
      message: expect.stringContaining("in time"),
    });
    expect(run.server.requests.length).toBeLessThanOrEqual(3);
  });

  test("[ARCH-9-A8] what is not a completion at all is said as such", async () => {
    const run = await setUp(
      [{ raw: "<html>Welcome</html>", contentType: stream ? "text/event-stream" : "application/json" }],
      { stream },
    );
    await expect(run.think()).rejects.toMatchObject({ code: "upstream_unavailable" });
  });

  test("[SEC-7-B1] the key goes into the request and nowhere else, even when the endpoint repeats it", async () => {
    const run = await setUp(
      [
        { status: 500, body: { error: { message: KEY, code: KEY, type: KEY } } },
        {
          text: `Your key is ${KEY}!`,
          reasoning: KEY,
          chunkChars: 3,
          toolCalls: [{ id: "a", name: "echo", arguments: { text: KEY } }],
        },
      ],
      { stream },
    );
    const answer = await run.think();
    expect(run.server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    const seen = JSON.stringify([answer, run.pieces.map(({ text }) => text).join(""), run.logged]);
    expect(seen).not.toContain("s3cr3t");
    expect(run.logged).not.toEqual([]);
    expect(answer.text).toContain("redacted");
  });
});

describe("a stream", () => {
  test.each(["malformed", "error"] as const)(
    "[ARCH-9-A8] with a chunk that is %s is broken, and asked for again",
    async (kind) => {
      const run = await setUp([{ text: "some text here", trouble: { afterChunks: 2, kind } }, { text: "whole" }]);
      expect((await run.think()).text).toBe("whole");
      expect(run.clock.sleeps).toEqual([2000]);
    },
  );

  test("[ARCH-9-A8] that ends without saying so is broken", async () => {
    const run = await setUp([{ text: "some text", finishReason: null }]);
    await expect(run.think()).rejects.toMatchObject({
      code: "upstream_unavailable",
      message: expect.stringContaining("broke off"),
    });
  });

  test("[ARCH-9-A1] is shown while it comes", async () => {
    let open = (): void => {};
    const until = new Promise<void>((resolve) => {
      open = resolve;
    });
    const run = await setUp([{ text: "first and then the rest", trouble: { afterChunks: 2, until } }]);
    const answer = run.think();
    await expect.poll(() => run.pieces.map(({ text }) => text).join("")).toBe("first a");
    open();
    expect((await answer).text).toBe("first and then the rest");
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
