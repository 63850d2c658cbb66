import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { BUS_CODES, ERROR_NAMES, SQL_STATES, SYSTEM_CODES } from "./foreign-errors.ts";
import { parseWith } from "./parse-with.ts";
import { ToolplaneError, UsageError } from "./toolplane-error.ts";
import { understandError } from "./understand-error.ts";

const foreign = (fields: object, message = "raw text with s3cr3t"): Error => Object.assign(new Error(message), fields);
const sql = (code: string): Error => foreign({ code, severity: "ERROR", detail: "Key (token)=(s3cr3t) exists" });

describe("foreign errors", () => {
  test("our own error passes as it is", () => {
    const error = new ToolplaneError("lease_lost", "gone");
    expect(understandError(error)).toBe(error);
  });

  test.each(Object.entries(SYSTEM_CODES))("[UTP-8.8-C10] the system code %s", (code, meaning) => {
    expect(understandError(foreign({ code }))).toMatchObject({ ...meaning, detail: { reason: code } });
  });

  test.each(Object.entries(SQL_STATES))("[UTP-8.8-C11] the SQL state or class %s", (state, meaning) => {
    const code = state.length === 5 ? state : `${state}Z9Z`;
    expect(understandError(sql(code))).toMatchObject(meaning);
  });

  test.each(Object.entries(ERROR_NAMES))("[UTP-8.8-C12] the error name %s", (name, meaning) => {
    expect(understandError(foreign({ name }))).toMatchObject(meaning);
  });

  test.each(Object.entries(BUS_CODES))("[UTP-8.8-C12] the message bus code %s", (code, meaning) => {
    expect(understandError(foreign({ name: "JetStreamApiError", code: Number(code) }))).toMatchObject(meaning);
  });

  test.each(["KeyError", "LookupError", "ValueError", "RangeError", "URIError", "TypeError", "Error"])(
    "[UTP-8.8-C13] %s that a tool did not declare is its bug, with its own words",
    (name) => {
      expect(understandError(foreign({ name }, "bad city"), { keepMessage: true })).toMatchObject({
        code: "internal_error",
        message: "bad city",
      });
    },
  );

  test("[UTP-8.8-C13] what a tool met in a file, a database or a schema is not a mistake of its caller", () => {
    const issues = z.object({ a: z.number() }).safeParse({}).error;
    for (const error of [foreign({ code: "ENOENT" }), foreign({ code: "EACCES" }), sql("23505"), sql("22P02"), issues])
      for (const thrown of [error, new Error("wrapped", { cause: error })])
        expect(understandError(thrown, { keepMessage: true }).code).toBe("internal_error");
    expect(understandError(issues, { keepMessage: true }).message).toContain("$.a");
    expect(understandError(foreign({ code: "ECONNREFUSED" }), { keepMessage: true }).code).toBe("upstream_unavailable");
    expect(understandError(AbortSignal.abort().reason, { keepMessage: true }).code).toBe("canceled");
    expect(understandError({ code: "not_found", message: "no such city" }, { keepMessage: true }).code).toBe(
      "not_found",
    );
  });

  test("[SEE-10] a system error of a tool keeps its own words: the file, the address; inside the plane it does not", () => {
    const say = (error: unknown, keepMessage: boolean) => understandError(error, { keepMessage }).message;
    const missing = Object.assign(new Error("ENOENT: no such file, open '/nope'"), { code: "ENOENT" });
    expect([say(missing, true), say(missing, false)]).toEqual([missing.message, "a file or directory does not exist"]);
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:3"), { code: "ECONNREFUSED" });
    const sentence = "fetch failed: connect ECONNREFUSED 127.0.0.1:3";
    expect(say(new TypeError("fetch failed", { cause: refused }), true)).toBe(sentence);
    const both = Object.assign(new AggregateError([refused, refused], ""), { code: "ECONNREFUSED" });
    expect(say(new TypeError("fetch failed", { cause: both }), true)).toBe(sentence);
    expect(say(Object.assign(new Error(""), { code: "ENOENT" }), true)).toBe("a file or directory does not exist");
    const ours = new ToolplaneError("upstream_unavailable", "no server answers", { cause: refused });
    expect(say(ours, true)).toBe("no server answers");
  });

  test.each([
    [
      "a port that fetch refuses",
      new TypeError("fetch failed", { cause: new Error("bad port") }),
      "fetch failed: bad port",
    ],
    [
      "several reasons",
      new AggregateError([new Error("a"), new Error("b"), new Error("a")], "All promises were rejected"),
      "All promises were rejected: a; b",
    ],
    [
      "reasons inside reasons",
      new TypeError("fetch failed", { cause: new AggregateError([new Error("x"), new Error("y")]) }),
      "fetch failed: x; y",
    ],
    ["no reason at all", new TypeError("fetch failed"), "fetch failed"],
    ["words that say something", new Error("no price", { cause: new Error("inner") }), "no price"],
  ])("[SEE-17] words that say nothing are followed by the words of the errors inside: %s", (_name, thrown, message) => {
    expect(understandError(thrown, { keepMessage: true })).toMatchObject({ code: "internal_error", message });
  });

  test("codes that no table knows", () => {
    expect(understandError(sql("P0001")).code).toBe("internal_error");
    expect(understandError(foreign({ name: "JetStreamApiError", code: 1 })).code).toBe("upstream_unavailable");
    expect(understandError(foreign({ code: "23505" })).code).toBe("internal_error");
  });

  test("a real aborted signal and a real timeout", async () => {
    const abort = AbortSignal.abort().reason as unknown;
    expect(understandError(abort).code).toBe("canceled");
    const signal = AbortSignal.timeout(0);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    expect(understandError(signal.reason).code).toBe("tool_timeout");
  });

  test("wrapped errors are followed, endless chains are not", () => {
    expect(understandError(new TypeError("fetch failed", { cause: foreign({ code: "ECONNREFUSED" }) })).code).toBe(
      "upstream_unavailable",
    );
    expect(understandError(new AggregateError([foreign({ code: "ENOENT" })])).code).toBe("not_found");
    expect(understandError(new Error("x", { cause: new ToolplaneError("conflict", "c") })).code).toBe("conflict");
    const loop = foreign({});
    loop.cause = loop;
    expect(understandError(loop).code).toBe("internal_error");
  });

  test("a schema error is bad_request and names the fields", () => {
    const schema = z.strictObject({ a: z.number(), b: z.array(z.string()) });
    const parsed = schema.safeParse({ a: "x", b: [1], c: 1 });
    const understood = understandError(parsed.error);
    expect(understood.code).toBe("bad_request");
    expect(understood.message).toContain("$.a");
    expect(understood.message).toContain("$.b[0]");
    expect(() => parseWith(schema, {}, "thing")).toThrow(/^thing is not valid: \$\.a: /);
  });

  test("a schema error with a thousand faults is cut", () => {
    const parsed = z.array(z.string()).safeParse(Array.from({ length: 1000 }, () => 1));
    expect(understandError(parsed.error).detail?.issues).toHaveLength(8);
  });

  test("an error of another copy of this package, or from a wire, keeps its code", () => {
    const twin = foreign({ name: "ToolplaneError", code: "breaker_open", detail: { host: "x" } }, "left alone");
    expect(understandError(twin)).toMatchObject({ code: "breaker_open", message: "left alone", detail: { host: "x" } });
    expect(understandError({ code: "rate_limited", message: "slow" })).toMatchObject({ code: "rate_limited" });
  });

  test("[INV-I8-C4] a foreign message does not cross unless it is a tool's own", () => {
    for (const error of [foreign({}), sql("22P02"), foreign({ code: "ENOENT" }), "s3cr3t", { message: "s3cr3t" }]) {
      expect(JSON.stringify(understandError(error).toWire())).not.toContain("s3cr3t");
    }
    expect(understandError(foreign({}, "no such city"), { keepMessage: true }).message).toBe("no such city");
    expect(understandError("plain text", { keepMessage: true })).toMatchObject({
      code: "internal_error",
      message: "plain text",
    });
    expect(JSON.stringify(understandError(sql("22P02"), { keepMessage: true }).toWire())).not.toContain("s3cr3t");
    expect(understandError(new UsageError("s3cr3t"), { keepMessage: true }).message).not.toContain("s3cr3t");
  });

  test("nothing is an unknown error", () => {
    expect(understandError(undefined).code).toBe("unknown_error");
    expect(understandError(null).code).toBe("unknown_error");
  });

  test("whatever is thrown, a ToolplaneError comes out", () => {
    const trap = new Proxy(
      {},
      {
        get: () => {
          throw new TypeError("x");
        },
        has: () => true,
      },
    );
    expect(understandError(trap)).toBeInstanceOf(ToolplaneError);
    fc.assert(
      fc.property(fc.anything(), fc.boolean(), (thrown, keepMessage) => {
        expect(understandError(thrown, { keepMessage }).message).not.toBe("");
      }),
      { numRuns: 1000 },
    );
  });
});
