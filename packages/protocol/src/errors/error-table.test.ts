import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { errorReferenceMarkdown } from "./error-reference.ts";
import { ERROR_CODES, type ErrorCode, isErrorCode, type RetryAdvice } from "./error-table.ts";
import { isToolplaneError, ToolplaneError, UsageError, violation } from "./toolplane-error.ts";

/** The contract with callers, written out a second time on purpose: changing the table must be noticed. */
const contract: Readonly<Record<ErrorCode, readonly [number, RetryAdvice]>> = {
  bad_request: [400, "never"],
  protocol_violation: [400, "never"],
  unauthorized: [401, "never"],
  auth_failed: [403, "never"],
  invalid_source_actor: [403, "never"],
  approval_denied: [403, "never"],
  not_found: [404, "never"],
  approval_expired: [408, "never"],
  conflict: [409, "never"],
  idempotency_conflict: [409, "never"],
  lease_lost: [409, "never"],
  already_settled: [409, "never"],
  definition_changed: [409, "never"],
  recursion_depth_exceeded: [409, "never"],
  inbox_not_empty: [409, "later"],
  agent_busy: [409, "later"],
  payload_too_large: [413, "never"],
  result_too_large: [413, "never"],
  tool_error: [422, "never"],
  result_not_serializable: [422, "never"],
  error_not_serializable: [422, "never"],
  invalid_status: [422, "never"],
  invalid_after_execution: [422, "never"],
  rate_limited: [429, "later"],
  canceled: [499, "never"],
  internal_error: [500, "unsafe"],
  unknown_error: [500, "unsafe"],
  outcome_unknown: [500, "never"],
  storage_error: [503, "later"],
  upstream_unavailable: [503, "unsafe"],
  breaker_open: [503, "later"],
  queue_timeout: [504, "never"],
  tool_timeout: [504, "unsafe"],
  still_running: [504, "later"],
};

describe("error table", () => {
  test("[API-4-C5] every code is in the contract", () => {
    expect([...ERROR_CODES].sort()).toEqual(Object.keys(contract).sort());
  });

  test.each(Object.entries(contract))(
    "[UTP-8.8-C9] %s keeps its HTTP status and retry advice",
    (code, [http, retry]) => {
      const error = new ToolplaneError(code as ErrorCode, "text", { detail: { a: 1 } });
      expect([error.http, error.retry]).toEqual([http, retry]);
      expect(error.toWire()).toEqual({ code, message: "text", detail: { a: 1 }, retryable: retry === "later" });
      expect(isErrorCode(code)).toBe(true);
    },
  );

  test("names of Object.prototype are not codes", () => {
    expect(["toString", "constructor", "__proto__", "", 5, null].some(isErrorCode)).toBe(false);
  });

  test("[INV-I8-C3] what crosses the wire has no stack, cause or name", () => {
    const error = new ToolplaneError("storage_error", "away", { cause: new TypeError("select secret") });
    expect(JSON.stringify(error.toWire())).toBe('{"code":"storage_error","message":"away","retryable":true}');
    expect(error.cause).toBeInstanceOf(TypeError);
  });

  test("a violation is a protocol_violation; a usage error is none of ours", () => {
    expect(violation("no", { a: 1 })).toMatchObject({ code: "protocol_violation", detail: { a: 1 } });
    expect(isToolplaneError(new UsageError("x"))).toBe(false);
    expect(isToolplaneError(violation("x"))).toBe(true);
  });
});

describe("error reference", () => {
  const page = errorReferenceMarkdown();

  test.each(ERROR_CODES)("names %s once, with its status", (code) => {
    const rows = page.split("\n").filter((line) => line.startsWith(`| \`${code}\` |`));
    expect(rows).toHaveLength(1);
    expect(rows[0]).toContain(`| ${contract[code][0]} |`);
  });

  test("the page in docs is the one the table gives", () => {
    const docs = join(import.meta.dirname, "..", "..", "..", "..", "docs", "reference", "errors.md");
    expect(readFileSync(docs, "utf8")).toBe(page);
  });
});
