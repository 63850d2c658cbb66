import { ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import type { ModelReply } from "./model-reply.ts";
import { type AnswerModel, startModelServer } from "./model-server.ts";

const USAGE = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const post = (url: string, body: object, path = "/chat/completions") =>
  fetch(`${url}${path}`, { method: "POST", headers: { authorization: "Bearer key" }, body: JSON.stringify(body) });

/** The parsed events of a stream; what is not JSON stays text. */
const events = (text: string): unknown[] =>
  text
    .split("\n\n")
    .filter((line) => line !== "")
    .map((line) => line.slice("data: ".length))
    .map((data) => {
      try {
        return JSON.parse(data) as unknown;
      } catch {
        return data;
      }
    });

const ask = async (reply: ModelReply | AnswerModel, body: object = {}) => {
  await using server = await startModelServer(typeof reply === "function" ? reply : [reply]);
  const response = await post(server.url, { model: "m", messages: [], ...body });
  return { status: response.status, headers: response.headers, text: await response.text(), requests: server.requests };
};

describe("the model server", () => {
  const completion: ModelReply = {
    text: "Hello there.",
    reasoning: "Hm.",
    usage: USAGE,
    toolCalls: [
      { id: "a", name: "echo", arguments: { text: "long enough" } },
      { id: "b", name: "echo", arguments: "{bad" },
    ],
  };

  test("[ARCH-9-M1] answers in one body", async () => {
    const { text, requests } = await ask(completion);
    expect(JSON.parse(text)).toMatchObject({
      object: "chat.completion",
      model: "m",
      choices: [
        {
          finish_reason: "tool_calls",
          message: {
            content: "Hello there.",
            reasoning_content: "Hm.",
            tool_calls: [
              { id: "a", type: "function", function: { name: "echo", arguments: '{"text":"long enough"}' } },
              { id: "b", function: { arguments: "{bad" } },
            ],
          },
        },
      ],
      usage: USAGE,
    });
    expect(requests[0]).toMatchObject({
      number: 1,
      model: "m",
      stream: false,
      headers: { authorization: "Bearer key" },
    });
  });

  test("[ARCH-9-M1] answers in chunks, arguments in mixed fragments, usage when asked for", async () => {
    const { text, headers } = await ask(completion, { stream: true, stream_options: { include_usage: true } });
    expect(headers.get("content-type")).toBe("text/event-stream");
    const chunks = events(text);
    expect(chunks.at(-1)).toBe("[DONE]");
    expect(chunks.at(-2)).toMatchObject({ choices: [], usage: USAGE });
    expect(chunks.at(-3)).toMatchObject({ choices: [{ finish_reason: "tool_calls" }] });
    expect(text.split('"index":1').length).toBeGreaterThan(2);
    expect(events((await ask(completion, { stream: true })).text).at(-2)).toMatchObject({
      choices: [{ finish_reason: "tool_calls" }],
    });
  });

  test.each<[string, ModelReply, object]>([
    ["a refusal with headers", { status: 429, headers: { "retry-after": "3" } }, { status: 429 }],
    ["wrong JSON", { raw: "{" }, { status: 200, text: "{" }],
    ["no end", { text: "x", finishReason: null }, { text: expect.stringContaining('"finish_reason":null') }],
  ])("[ARCH-9-M2] misbehaves as told: %s", async (_name, reply, expected) => {
    expect(await ask(reply)).toMatchObject(expected);
  });

  test("[ARCH-9-M2] misbehaves in a stream: a malformed chunk, an error, a cut", async () => {
    const trouble = (kind: "malformed" | "error" | "cut") =>
      ask({ text: "some words", trouble: { afterChunks: 1, kind } }, { stream: true });
    expect(events((await trouble("malformed")).text)).toContain('{"choices": [{"delta": {"content": "half');
    expect((await trouble("error")).text).toContain("rate_limit_exceeded");
    await expect(trouble("cut")).rejects.toThrow();
    await expect(ask({ drop: true })).rejects.toThrow();
  });

  test("[ARCH-9-M2] hangs until the client gives up, and notices that it did", async () => {
    await using server = await startModelServer([{ hang: true }]);
    const stop = new AbortController();
    const asked = fetch(`${server.url}/chat/completions`, { method: "POST", body: "{}", signal: stop.signal });
    await expect.poll(() => server.requests.length).toBe(1);
    stop.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => server.requests[0]?.gone.aborted).toBe(true);
  });

  test("[ARCH-9-M1] replies in order, the last one again; a function that fails is an error; other paths are none", async () => {
    await using server = await startModelServer([{ text: "1" }, { text: "2" }]);
    const contents = [];
    for (let n = 0; n < 3; n++) contents.push(await (await post(server.url, {})).text());
    expect(
      contents.map(
        (text) => (JSON.parse(text) as { choices: { message: { content: string } }[] }).choices[0]?.message.content,
      ),
    ).toEqual(["1", "2", "2"]);
    expect((await post(server.url, {}, "/models")).status).toBe(404);
    const failing = await ask(() => {
      throw new ToolplaneError("rate_limited", "slow");
    });
    expect(failing.status).toBe(429);
  });
});
