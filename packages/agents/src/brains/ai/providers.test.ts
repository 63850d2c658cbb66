import { afterEach, describe, expect, test, vi } from "vitest";
import { testRequest } from "../../../test/brain-request.ts";
import { createTestClock } from "../../../test/test-clock.ts";
import { createBrainSource } from "../brain-source.ts";

const KEY = "s3cr3t-key-value";

interface Seen {
  readonly url: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** Answers as the provider's own API would. */
const answerWith = (body: unknown, seen: Seen[]): typeof globalThis.fetch => {
  const answer = async (input: Parameters<typeof globalThis.fetch>[0], init?: RequestInit): Promise<Response> => {
    const text = typeof init?.body === "string" ? init.body : "{}";
    seen.push({
      url: String(input),
      headers: new Headers(init?.headers),
      body: JSON.parse(text) as Record<string, unknown>,
    });
    return new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } });
  };
  return answer;
};

const TOOLS = [
  {
    type: "function" as const,
    function: { name: "echo", description: "Echo.", parameters: { type: "object", properties: {} } },
  },
];

const ask = async (config: object, body: unknown) => {
  const seen: Seen[] = [];
  const source = createBrainSource({ clock: createTestClock(), secret: () => KEY, fetch: answerWith(body, seen) });
  const { request } = testRequest({ tools: TOOLS }, { stream: false, ...config });
  const answer = await (await source(request.profile)).think(request);
  return { answer, seen: seen[0] };
};

afterEach(() => {
  vi.unstubAllEnvs();
});

const OPENAI = {
  id: "x",
  object: "chat.completion",
  created: 1,
  model: "gpt-x",
  choices: [
    {
      index: 0,
      finish_reason: "tool_calls",
      message: {
        role: "assistant",
        content: "Hi.",
        tool_calls: [{ id: "c1", type: "function", function: { name: "echo", arguments: '{"a":1}' } }],
      },
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};

const ANTHROPIC = {
  type: "message",
  id: "m",
  role: "assistant",
  model: "claude-x",
  content: [
    { type: "text", text: "Hi." },
    { type: "tool_use", id: "c1", name: "echo", input: { a: 1 } },
  ],
  stop_reason: "tool_use",
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 2 },
};

const GOOGLE = {
  candidates: [
    {
      content: {
        role: "model",
        parts: [{ text: "Hi." }, { functionCall: { id: "c1", name: "echo", args: { a: 1 } } }],
      },
      finishReason: "STOP",
      index: 0,
    },
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
  modelVersion: "gemini-x",
};

describe("providers people expect", () => {
  test.each([
    ["openai/gpt-x", OPENAI, "https://api.openai.com/v1/chat/completions", "authorization", `Bearer ${KEY}`],
    ["anthropic/claude-x", ANTHROPIC, "https://api.anthropic.com/v1/messages", "x-api-key", KEY],
    [
      "gemini/gemini-x",
      GOOGLE,
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-x:generateContent",
      "x-goog-api-key",
      KEY,
    ],
  ])("[ARCH-9-A13] %s: its own address, its own header, the same answer", async (model, body, url, header, value) => {
    // What this process was started with must not decide where a key is sent.
    vi.stubEnv("OPENAI_BASE_URL", "https://evil.example");
    vi.stubEnv("ANTHROPIC_BASE_URL", "https://evil.example");
    vi.stubEnv("OPENAI_API_KEY", "from-the-environment");
    const { answer, seen } = await ask({ model }, body);
    expect(seen?.url).toBe(url);
    expect(seen?.headers.get(header)).toBe(value);
    expect(JSON.stringify(seen?.body)).toContain("You test.");
    expect(JSON.stringify(seen?.body)).toContain("Echo.");
    expect(answer).toMatchObject({
      text: "Hi.",
      toolCalls: [{ id: expect.any(String), name: "echo", arguments: { a: 1 } }],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    });
  });

  test("[SEC-7-B2] without the variable nothing is asked, whatever this process was started with", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "from-the-environment");
    const seen: Seen[] = [];
    const source = createBrainSource({
      clock: createTestClock(),
      secret: () => undefined,
      fetch: answerWith(ANTHROPIC, seen),
    });
    const { request } = testRequest({}, { model: "anthropic/claude-x" });
    await expect((await source(request.profile)).think(request)).rejects.toMatchObject({
      code: "auth_failed",
      message: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
    expect(seen).toEqual([]);
  });

  test.each([
    ["http://127.0.0.1:11434/v1", 'egress.allow: ["http://127.0.0.1:11434"]'],
    ["http://[::ffff:127.0.0.1]:11434/v1", "egress.allow"],
    ["https://169.254.169.254/v1", "metadata service"],
    ["https://models.example.com:8443/v1", "the port 8443"],
    ["http://models.example.com/v1", "plain http"],
  ])("[SEC-6-3] %s is not asked, and no key is sent", async (api_base, words) => {
    const source = createBrainSource({ clock: createTestClock(), secret: () => undefined });
    const { request } = testRequest({}, { model: "m", api_base });
    await expect((await source(request.profile)).think(request)).rejects.toMatchObject({
      code: "auth_failed",
      message: expect.stringContaining(words),
    });
  });
});
