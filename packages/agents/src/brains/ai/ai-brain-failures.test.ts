import type { ModelReply } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { KEY, setUp } from "../../../test/ai-run.ts";
import { createTestClock } from "../../../test/test-clock.ts";

describe.each([
  ["a stream", true],
  ["one piece", false],
])("a failure in %s", (_name, stream) => {
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
    [
      "a web page",
      { status: 200, headers: { "content-type": "text/html; charset=utf-8" } },
      "not_found",
      "answered with a web page; check llm_config.api_base",
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

  test.each([
    ["large", 100_000],
    ["small", 100],
  ])(
    "[STALL-7] an answer that would take long to read is refused before it is read, in %s events",
    async (_size, chunkChars) => {
      const names = Object.fromEntries(Array.from({ length: 150_000 }, (_, i) => [`k${i}`, 0]));
      const reply: ModelReply = { toolCalls: [{ id: "c", name: "t", arguments: names }], chunkChars };
      const run = await setUp([reply, { text: "never" }], { stream });
      await expect(run.think()).rejects.toMatchObject({ code: "payload_too_large" });
      expect(run.server.requests).toHaveLength(1);
    },
  );

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
    let silences = 0;
    const run = await setUp(
      [{ hang: true }, { hang: true }, { text: "at last" }],
      { stream, provider_options: { timeout_seconds: 30 } },
      (server) => {
        const clock = createTestClock();
        const sleep: typeof clock.sleep = async (ms, signal) => {
          if (ms !== 30_000) return clock.sleep(ms, signal);
          silences += 1;
          const nth = silences;
          await expect.poll(() => server.requests.length).toBeGreaterThanOrEqual(nth);
          // The first two requests are never answered; for the third the time does not run out.
          return nth <= 2 ? clock.sleep(ms, signal) : clock.sleep(Number.POSITIVE_INFINITY, signal);
        };
        return { ...clock, sleep };
      },
    );
    expect((await run.think()).text).toBe("at last");
    expect(run.clock.sleeps).toEqual([30_000, 2000, 30_000, 4000]);
    await expect
      .poll(() => run.server.requests.map(({ gone }) => gone.aborted))
      .toEqual([true, true, expect.any(Boolean)]);
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
