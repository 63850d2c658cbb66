import type { ToolError } from "@toolplane/sdk";
import { describe, expect, test } from "vitest";
import { type HttpAnswer, planAnswer } from "./plan-answer.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const means = {
  toolName: "t",
  toolCallId: "c1",
  now: NOW,
  scrub: (text: string) => text.replaceAll("s3cret", "[removed]"),
};

const answerOf = (body: string | Uint8Array, more: Partial<HttpAnswer> = {}): HttpAnswer => ({
  status: 200,
  contentType: "application/json",
  retryAfter: undefined,
  host: "api.example.com",
  body: Buffer.from(body as string),
  latencyMs: 12,
  ...more,
});

const failureOf = (body: string, more: Partial<HttpAnswer> = {}): ToolError => {
  try {
    planAnswer(answerOf(body, more), means);
  } catch (error) {
    return error as ToolError;
  }
  throw new TypeError("it did not fail");
};

describe("[UTP-9-13] what succeeds", () => {
  test.each([
    ["application/json", '{"a":1}', { a: 1, latency_ms: 12 }],
    ["application/problem+json; charset=utf-8", '{"latency_ms":3}', { latency_ms: 3 }],
    ["application/json", "[1]", { value: [1], latency_ms: 12 }],
    ["application/json", "null", { value: null, latency_ms: 12 }],
    ["application/json", '{"a":', { data: '{"a":', latency_ms: 12 }],
    ["application/json", '{"error":null,"b":2}', { error: null, b: 2, latency_ms: 12 }],
    ["text/html", "<p>", { data: "<p>", latency_ms: 12 }],
    ["", "", { data: "", latency_ms: 12 }],
    ["text/plain; charset=nonsense", "x", { data: "x", latency_ms: 12 }],
    ["image/png", "abc", { data: "YWJj", encoding: "base64", content_type: "image/png", latency_ms: 12 }],
  ])("%s %j is %j", (contentType, body, result) => {
    expect(planAnswer(answerOf(body, { contentType }), means)).toEqual(result);
  });

  test("a charset that is named is used, and a member called __proto__ stays one", () => {
    const latin = Buffer.from([0xe9]);
    expect(planAnswer(answerOf(latin, { contentType: "text/plain; charset=iso-8859-1" }), means)).toMatchObject({
      data: "é",
    });
    const odd = planAnswer(answerOf('{"__proto__":{"polluted":1}}'), means);
    expect(Object.hasOwn(odd, "__proto__")).toBe(true);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe("[UTP-9-14] [UTP-9-15] what fails", () => {
  test.each([
    [301, "upstream_unavailable", false, false],
    [304, "upstream_unavailable", false, false],
    [400, "bad_request", false, false],
    [401, "auth_failed", false, false],
    [402, "bad_request", false, false],
    [403, "auth_failed", false, false],
    [404, "not_found", false, false],
    [408, "tool_timeout", false, false],
    [409, "bad_request", false, false],
    [422, "bad_request", false, false],
    [429, "upstream_unavailable", true, true],
    [451, "bad_request", false, false],
    [500, "upstream_unavailable", true, false],
    [502, "upstream_unavailable", true, true],
    [503, "upstream_unavailable", true, true],
    [504, "upstream_unavailable", true, true],
  ])("HTTP %i is %s, retryable %s, tried again here %s", (status, code, retryable, here) => {
    expect(failureOf("{}", { status })).toMatchObject({
      code,
      retryable,
      retryHere: here,
      detail: { status_code: status, tool_name: "t", tool_call_id: "c1" },
    });
  });

  test("[UTP-9-19] a 2xx body with an error is a failure of the upstream, and is not sent again", () => {
    expect(failureOf('{"error":{"message":"no"}}')).toMatchObject({
      code: "upstream_unavailable",
      retryHere: false,
      detail: { status_code: 200, details: { error: { message: "no" } } },
    });
  });

  test.each([
    ["7", 7_000, 7],
    ["Mon, 16 Nov 2026 12:01:00 GMT", 60_000, 60],
    ["Mon, 16 Nov 2020 12:01:00 GMT", 0, 0],
    ["soon", undefined, undefined],
    ["-1", undefined, undefined],
    ["99999999999999999999", undefined, undefined],
  ])("[UTP-9-15] Retry-After %j is a pause of %s ms", (retryAfter, pause, seconds) => {
    const error = failureOf("{}", { status: 429, retryAfter });
    expect(error.retryAfterMs).toBe(pause);
    expect((error.detail as { retry_after_seconds?: number }).retry_after_seconds).toBe(seconds);
  });

  test("[UTP-9-17] [UTP-9-16] what is stored of an answer is scrubbed and then cut", () => {
    const page = failureOf(`<html>${"x".repeat(1_990)}s3cret`, { status: 500, contentType: "text/html" });
    const { details } = page.detail as { details: string };
    expect(details.length).toBeLessThanOrEqual(2_000);
    expect(details).not.toContain("s3");
    expect(failureOf('{"token":"s3cret"}', { status: 401 }).detail).toMatchObject({ details: { token: "[removed]" } });
  });
});
