import { describe, expect, test } from "vitest";
import { errorFromAnswer, parseRetryAfter } from "./answer-error.ts";

const request = "POST /x";

describe("errorFromAnswer", () => {
  test("[API-6-S4] the server's own words and code", () => {
    const body = { error: { code: "lease_lost", message: "gone", detail: { status: "running" }, retryable: false } };
    const error = errorFromAnswer({ status: 409, body, request });
    expect(error).toMatchObject({
      code: "lease_lost",
      message: "gone",
      detail: { status: "running", http_status: 409 },
    });
  });

  test.each([
    [401, "unauthorized"],
    [403, "auth_failed"],
    [404, "not_found"],
    [409, "conflict"],
    [413, "payload_too_large"],
    [418, "bad_request"],
    [429, "rate_limited"],
    [408, "upstream_unavailable"],
    [500, "upstream_unavailable"],
    [502, "upstream_unavailable"],
  ])("[API-6-S4] a bare %i is %s", (status, code) => {
    expect(errorFromAnswer({ status, body: undefined, request })).toMatchObject({
      code,
      message: `${request} answered ${status}`,
    });
  });

  test("a code nobody knows is kept in the detail", () => {
    const error = errorFromAnswer({ status: 422, body: { error: { code: "odd", message: "hm" } }, request });
    expect(error).toMatchObject({ code: "bad_request", message: "hm", detail: { code: "odd" } });
  });

  test.each([[null], ["text"], [{ error: "text" }], [{ error: null }], [[]]])(
    "a body that is %j says nothing",
    (body) => {
      expect(errorFromAnswer({ status: 500, body, request }).code).toBe("upstream_unavailable");
    },
  );
});

test.each([
  [null, undefined],
  ["3", 3],
  [" 120 ", 120],
  ["Sun, 15 Nov 2026 00:00:10 GMT", 10],
  ["Sun, 15 Nov 2020 00:00:10 GMT", 0],
  ["later", undefined],
  ["-5", undefined],
])("[API-6-S3] Retry-After %j is %j seconds", (header, seconds) => {
  expect(parseRetryAfter(header, Date.parse("2026-11-15T00:00:00Z"))).toBe(seconds);
});
