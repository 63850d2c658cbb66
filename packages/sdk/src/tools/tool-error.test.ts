import { ToolplaneError, UsageError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { ToolError, understandToolError } from "./tool-error.ts";

const unreadable = new Proxy(
  {},
  {
    get: () => {
      throw new RangeError("no");
    },
  },
);

describe("understandToolError", () => {
  test.each([
    [
      "a code of the table brings its advice",
      new ToolError("upstream_unavailable", "the shop is closed", { detail: { shop: 3 } }),
      {
        envelope: {
          code: "upstream_unavailable",
          message: "the shop is closed",
          detail: { shop: 3 },
          source: "tool",
          retryable: false,
          http_status: 503,
        },
        retryable: undefined,
      },
    ],
    [
      "a code of the tool's own is carried unchanged",
      new ToolError("out_of_stock", "none left", { retryable: true }),
      {
        envelope: { code: "out_of_stock", message: "none left", source: "tool", retryable: true },
        retryable: true,
      },
    ],
    [
      "a plain error keeps its words, not its stack",
      new Error("boom"),
      {
        envelope: { code: "internal_error", message: "boom", source: "tool", retryable: false, http_status: 500 },
        retryable: undefined,
      },
    ],
    [
      "an error of the plane",
      new ToolplaneError("rate_limited", "slow"),
      {
        envelope: { code: "rate_limited", message: "slow", source: "tool", retryable: true, http_status: 429 },
        retryable: undefined,
      },
    ],
    [
      "an object with a word of its own about trying again",
      { code: "odd", message: "hm", retryable: true },
      { envelope: { code: "odd", message: "hm", retryable: true, source: "tool" }, retryable: true },
    ],
  ])("[API-6-S12] %s", (_name, thrown, understood) => {
    expect(understandToolError(thrown)).toEqual(understood);
  });

  test.each<[string, unknown, string]>([
    ["a text", "no stock", "no stock"],
    ["an empty text", " ", "the tool threw an empty text"],
    ["undefined", undefined, "the tool threw undefined"],
    ["null", null, "the tool threw null"],
    ["a number", 5, "the tool threw 5"],
    ["an object", { a: 1 }, "the tool threw { a: 1 }"],
    ["a list", ["a", 1n], "the tool threw [ 'a', 1n ]"],
    ["an object with a message", { message: "closed" }, "closed"],
    ["an object with a number for a message", { code: 3 }, "the tool threw { code: 3 }"],
    ["a value that cannot be shown", unreadable, "the tool threw a value that cannot be shown"],
  ])("[SEE-17] a thrown value that is not an Error is a bug with its text: %s", (_name, thrown, message) => {
    expect(understandToolError(thrown)).toEqual({
      envelope: { code: "internal_error", message, source: "tool", retryable: false, http_status: 500 },
      retryable: undefined,
      retryAfterMs: undefined,
    });
  });

  test("[SEE-17] a thrown value is cut after its secrets are removed", () => {
    const scrub = (text: string): string => text.replaceAll("hunter2", "***");
    const { message } = understandToolError(`${"x".repeat(1_997)}hunter2 and more`, scrub).envelope;
    expect(message).toBe(`${"x".repeat(1_997)}*** ...`);
  });

  test("a ToolError of another copy of this package is one too", () => {
    const other = Object.assign(new Error("hm"), { name: "ToolError", code: "odd", retryable: true });
    expect(understandToolError(other)).toMatchObject({ envelope: { code: "odd", message: "hm" }, retryable: true });
  });

  test("a programmer's mistake does not cross in its own words", () => {
    expect(understandToolError(new UsageError("secret path")).envelope.message).not.toContain("secret");
  });
});
