import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseWritableCard } from "../cards/card.ts";
import { toolResultContentSchema } from "../cards/content.ts";
import { ToolplaneError, UsageError } from "../errors/toolplane-error.ts";
import type { JsonObject } from "../json/json-value.ts";
import { errorResult, normaliseError } from "./error-envelope.ts";
import { normaliseResult, type ResultInput } from "./normalise-result.ts";
import { buildFailure, buildResult } from "./result-builder.ts";
import { isResultStatus } from "./value-sets.ts";

const errorOf = (input: ResultInput): JsonObject => normaliseResult(input).error as JsonObject;
const bottomless = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);

describe("result normalisation, in order", () => {
  test("a plain success", () => {
    expect(normaliseResult({ status: "success", result: { n: 1 }, commandAfterExecution: "terminate" })).toEqual({
      __type__: "ToolResultContent",
      status: "success",
      after_execution: "terminate",
      result: { n: 1 },
      error: null,
    });
  });

  test.each(["done", "", undefined, 5])("[UTP-8.7-C1] status %j becomes failed with invalid_status", (status) => {
    expect(normaliseResult({ status })).toMatchObject({ status: "failed", error: { code: "invalid_status" } });
  });

  test("[UTP-8.7-C2] an error that was given is kept over invalid_status", () => {
    expect(normaliseResult({ status: "done", error: "no" })).toMatchObject({
      status: "failed",
      error: { message: "no" },
    });
  });

  test("[UTP-8.7-C3] an error turns success into failed and leaves other statuses alone", () => {
    expect(normaliseResult({ status: "success", error: "no" }).status).toBe("failed");
    expect(normaliseResult({ status: "timeout", error: "no" }).status).toBe("timeout");
  });

  test("[UTP-8.7-C4] without an error it is taken from the result's error_code and error_message", () => {
    const result = { error_code: "auth_failed", error_message: "no key", error_detail: { env: "X" } };
    expect(errorOf({ status: "failed", result })).toMatchObject({
      code: "auth_failed",
      message: "no key",
      detail: { env: "X" },
    });
    expect(errorOf({ status: "failed", result: { error_message: "m" } })).toMatchObject({
      code: "tool_error",
      message: "m",
    });
    expect(errorOf({ status: "failed", result: { error_code: 404 } })).toMatchObject({ code: "404" });
  });

  test("[UTP-8.7-C5] otherwise it is unknown_error", () => {
    expect(errorOf({ status: "canceled" })).toMatchObject({ code: "unknown_error", message: "unknown error" });
    expect(errorOf({ status: "partial", result: { a: 1 } })).toMatchObject({ code: "unknown_error" });
  });

  test("[UTP-8.7-C6] an error that is not JSON becomes error_not_serializable and the call failed", () => {
    const error = { code: "x", message: "m", detail: { f: () => 1 } };
    const content = normaliseResult({ status: "timeout", error });
    expect(content.status).toBe("failed");
    expect(content.error).toMatchObject({
      code: "error_not_serializable",
      detail: { original_error: "a function at $.detail.f" },
    });
    expect(errorOf({ status: "failed", error: "a\0b" })).toMatchObject({ code: "error_not_serializable" });
  });

  test.each<[string, unknown]>([
    ["message", { code: "rate_limited", message: `m${"\u{1f600}".repeat(20_000)}` }],
    ["message of an exception", new ToolplaneError("rate_limited", "m".repeat(40_000))],
    ["detail", { code: "rate_limited", message: "m", detail: "d".repeat(40_000) }],
    ["foreign field", { code: "rate_limited", message: "m", body: "d".repeat(40_000) }],
  ])(
    "[UTP-8.7-C15] of an error with a huge %s the code, the status and the beginning of the message stay",
    (_what, error) => {
      const content = normaliseResult({ status: "timeout", error, source: "tool" });
      expect(content).toMatchObject({ status: "timeout", error: { code: "rate_limited", source: "tool" } });
      const { message } = content.error as { readonly message: string };
      expect(message.startsWith("m")).toBe(true);
      expect(message.isWellFormed()).toBe(true);
      expect(JSON.stringify(content.error).length).toBeLessThan(32 * 1024);
    },
  );

  test("an error whose very code is huge is still an error", () => {
    expect(errorOf({ status: "failed", error: { code: "x".repeat(40_000), message: "m" } })).toMatchObject({
      code: "error_not_serializable",
    });
  });

  test("[UTP-8.7-C7] a result that is not JSON becomes null and result_not_serializable", () => {
    const content = normaliseResult({ status: "success", result: { a: [new Map()] } });
    expect(content).toMatchObject({
      status: "failed",
      result: null,
      error: { code: "result_not_serializable", detail: { type: "Object", original_error: "a Map at $.a[0]" } },
    });
    const both = errorOf({ status: "failed", error: { code: "auth_failed", message: "no" }, result: 1n });
    expect(both).toMatchObject({
      code: "result_not_serializable",
      detail: { type: "bigint", earlier_error: { code: "auth_failed" } },
    });
  });

  test("[API-4-C4] a result over the cap becomes null and result_too_large", () => {
    const content = normaliseResult({ status: "success", result: "x".repeat(300_000), caps: { maxBytes: 200_000 } });
    expect(content).toMatchObject({ status: "failed", result: null, error: { code: "result_too_large" } });
  });

  test("[INV-I11-C1] the card repeats the command's after_execution, suspend when it has none", () => {
    expect(normaliseResult({ status: "success", commandAfterExecution: "terminate" }).after_execution).toBe(
      "terminate",
    );
    expect(normaliseResult({ status: "success" }).after_execution).toBe("suspend");
    const wish = normaliseResult({
      status: "success",
      result: {},
      commandAfterExecution: "suspend",
      afterExecution: "terminate",
    });
    expect(wish.after_execution).toBe("suspend");
  });

  test("[UTP-8.7-C8] an explicit wish is written into the result's control namespace", () => {
    const write = (result: unknown) =>
      normaliseResult({ status: "success", result, afterExecution: "terminate" }).result;
    expect(write({ a: 1 })).toEqual({ a: 1, __cg_control: { after_execution: "terminate" } });
    expect(write([1])).toEqual({ value: [1], __cg_control: { after_execution: "terminate" } });
    expect(write(undefined)).toEqual({ value: null, __cg_control: { after_execution: "terminate" } });
    const before = { __cg_control: { after_execution: "suspend", note: 1 } };
    expect(write(before)).toEqual({ __cg_control: { after_execution: "terminate", note: 1 } });
  });

  test("[UTP-8.7-C9] an invalid wish fails the call and is named", () => {
    const content = normaliseResult({ status: "success", result: { a: 1 }, afterExecution: "later" });
    expect(content).toMatchObject({
      status: "failed",
      after_execution: "suspend",
      result: { a: 1 },
      error: { code: "invalid_after_execution", detail: { after_execution: "later" } },
    });
  });

  test("[UTP-8.5-C1] a command's own invalid after_execution is reported with suspend", () => {
    const content = normaliseResult({ status: "success", commandAfterExecution: "later" });
    expect(content).toMatchObject({
      status: "failed",
      after_execution: "suspend",
      error: { code: "invalid_after_execution" },
    });
  });

  test("[SEC-4-C12] a result of the deepest allowed nesting still fits into its card, one deeper is refused", () => {
    const context = {
      cardId: "c",
      createdAt: "2026-01-02T03:04:05Z",
      projectId: "p",
      agentTurnId: "t",
      toolCallId: "tc",
      authorId: "tool.x",
    };
    const fits = buildResult(context, { status: "success", result: bottomless(60), afterExecution: "terminate" });
    expect(parseWritableCard(fits.card)).toEqual(fits.card);
    expect(fits.payload.status).toBe("success");
    expect(buildResult(context, { status: "success", result: bottomless(61) }).payload.status).toBe("failed");
    const deepError = buildFailure(context, { code: "x", message: "y", detail: bottomless(57) });
    expect(deepError.card.content).toMatchObject({ error: { code: "x" } });
    expect(parseWritableCard(deepError.card)).toEqual(deepError.card);
  });

  test("a getter that throws cannot break it", () => {
    const trap = {
      get error_code(): string {
        throw new TypeError("x");
      },
    };
    expect(normaliseResult({ status: "failed", result: trap })).toMatchObject({
      result: null,
      error: { code: "result_not_serializable" },
    });
  });

  const revoked = (): object => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  class TagTrap {
    get [Symbol.toStringTag](): string {
      throw new TypeError("x");
    }
  }

  test.each<[string, ResultInput, string]>([
    ["a revoked result", { status: "success", result: revoked() }, "result_not_serializable"],
    ["a revoked result of a failure", { status: "failed", result: revoked() }, "result_not_serializable"],
    ["a result whose tag throws", { status: "success", result: new TagTrap() }, "result_not_serializable"],
    ["a revoked error", { status: "failed", error: revoked() }, "unknown_error"],
    ["a revoked wish", { status: "success", afterExecution: revoked() }, "invalid_after_execution"],
    ["a revoked status", { status: revoked() }, "invalid_status"],
  ])("[UTP-8.7-C10] %s cannot break it", (_what, input, code) => {
    expect(normaliseResult(input)).toMatchObject({ status: "failed", result: null, error: { code } });
  });

  test("[UTP-8.7-C10] whatever is given, nothing is thrown and the content is valid", () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSparseArray: true,
      withNullPrototype: true,
    });
    const statuses = fc.oneof(fc.constantFrom("success", "failed", "canceled", "timeout", "partial"), anything);
    const wishes = fc.oneof(fc.constantFrom(undefined, "suspend", "terminate"), anything);
    const errors = fc.oneof(
      fc.constant(undefined),
      anything,
      fc.record({ code: anything, message: anything }),
      fc.constant(new TypeError("\0")),
    );
    fc.assert(
      fc.property(
        statuses,
        anything,
        errors,
        wishes,
        wishes,
        fc.boolean(),
        (status, result, error, commandAfterExecution, afterExecution, mirrorError) => {
          const content = normaliseResult({
            status,
            result,
            error,
            commandAfterExecution,
            afterExecution,
            mirrorError,
          });
          expect(toolResultContentSchema.safeParse(content).error).toBeUndefined();
          expect(isResultStatus(content.status)).toBe(true);
          expect(JSON.parse(JSON.stringify(content))).toEqual(content);
        },
      ),
      { numRuns: 3000 },
    );
  });
});

describe("error normalisation", () => {
  const cases: readonly [string, unknown, object][] = [
    [
      "[UTP-8.8-C1] an object with code and message is kept",
      { code: "custom", message: "m", extra: 1 },
      { code: "custom", message: "m", extra: 1 },
    ],
    ["[UTP-8.8-C1] a numeric code becomes a text", { code: 404, message: "m" }, { code: "404", message: "m" }],
    [
      "[UTP-8.8-C2] error_code and error_message are mapped",
      { error_code: "c", error_message: "m", detail: { a: 1 } },
      { code: "c", message: "m", detail: { a: 1 } },
    ],
    ["[UTP-8.8-C2] error_code alone is its own message", { error_code: "c" }, { code: "c", message: "c" }],
    [
      "[UTP-8.8-C3] another object is written out under the default code",
      { b: 1, a: 2 },
      { code: "tool_error", message: '{"a":2,"b":1}' },
    ],
    ["[UTP-8.8-C3] an object with only a message says it", { message: "m" }, { code: "tool_error", message: "m" }],
    ["[UTP-8.8-C4] a text takes the default code", "no such city", { code: "tool_error", message: "no such city" }],
    ["[UTP-8.8-C5] null is the unknown error", null, { code: "unknown_error", message: "unknown error" }],
    ["[UTP-8.8-C5] a blank text is the unknown error", " ", { code: "unknown_error", message: "unknown error" }],
    ["anything else is quoted", 5n, { code: "tool_error", message: "[object BigInt]" }],
    ["[INV-I8-C2] a stack is dropped", { code: "c", message: "m", stack: "at line 1" }, { code: "c", message: "m" }],
  ];
  test.each(cases)("%s", (_name, error, envelope) => {
    expect(normaliseError(error)).toEqual(envelope);
  });

  test("[UTP-8.8-C6] an exception keeps its message and gets code, retry advice and HTTP status", () => {
    expect(
      normaliseError(new ToolplaneError("rate_limited", "slow down", { detail: { a: 1 } }), { source: "tool" }),
    ).toEqual({
      code: "rate_limited",
      message: "slow down",
      source: "tool",
      detail: { a: 1 },
      retryable: true,
      http_status: 429,
    });
    expect(normaliseError(new TypeError("boom"))).toMatchObject({
      code: "internal_error",
      message: "boom",
      http_status: 500,
    });
    expect(normaliseError(new UsageError("secret plan")).message).not.toContain("secret");
    expect(normaliseError(new ToolplaneError("conflict", " ")).message).not.toBe(" ");
  });

  test("[UTP-D22-C1] a tool's own code is carried unchanged, a known one gets the table's advice", () => {
    expect(errorOf({ status: "failed", error: { code: "acme_quota", message: "m" } })).toEqual({
      code: "acme_quota",
      message: "m",
    });
    const known = errorOf({ status: "failed", error: { code: "upstream_unavailable", message: "m", retryable: true } });
    expect(known).toEqual({ code: "upstream_unavailable", message: "m", retryable: true, http_status: 503 });
  });

  test("[UTP-8.8-C7] the source is the caller's, an error's own source wins", () => {
    expect(normaliseError("x", { source: "worker" })).toEqual({
      code: "tool_error",
      message: "x",
      source: "worker",
    });
    expect(normaliseError({ code: "c", message: "m", source: "watchdog" }, { source: "tool" }).source).toBe("watchdog");
  });

  test("[UTP-8.8-C8] the error result mirrors the envelope", () => {
    expect(errorResult({ code: "c", message: "m", detail: { a: 1 } })).toEqual({
      error_code: "c",
      error_message: "m",
      error: { code: "c", message: "m", detail: { a: 1 } },
      error_detail: { a: 1 },
    });
    expect(errorResult({ code: "c", message: "m" })).not.toHaveProperty("error_detail");
  });

  test("code and message are never blank", () => {
    fc.assert(
      fc.property(fc.anything(), (error) => {
        const { code, message } = normaliseError(error);
        expect(code.trim()).not.toBe("");
        expect(message.trim()).not.toBe("");
      }),
      { numRuns: 1000 },
    );
  });
});
