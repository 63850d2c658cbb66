import { ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { describeRefusal, describeThrown, HostFault } from "./host-fault.ts";

class ShopClosed extends Error {}

const unreadable = new Proxy(new ShopClosed("x"), {
  get: () => {
    throw new TypeError("no");
  },
});

const notAnError = (detail: string) => ({
  type: "NotAnError",
  detail,
  stack: `${detail}\n(no stack: the value that was thrown is not an Error; throw new Error(...) to see the place)`,
});

describe("[HOST-3-4] whatever was thrown", () => {
  test.each<[string, unknown, object]>([
    [
      "an error of a class",
      new ShopClosed("closed"),
      { type: "ShopClosed", detail: "closed", stack: expect.stringContaining("closed") },
    ],
    ["a text", "no", notAnError("no")],
    ["data", { code: 3 }, notAnError("the tool threw { code: 3 }")],
    ["nothing", undefined, notAnError("the tool threw undefined")],
    ["a value that JSON cannot say", { big: 1n }, notAnError("the tool threw { big: 1n }")],
    ["an error that cannot be read", unreadable, { type: "Error", detail: "an error that cannot be read" }],
    ["the host's own fault, without a stack", new HostFault("NotJson", "d"), { type: "NotJson", detail: "d" }],
    ["half a character", "\ud83d", notAnError("\ufffd")],
  ])("%s", (_name, thrown, fault) => {
    expect(describeThrown(thrown)).toEqual(fault);
  });

  test("[SEE-10] an error brings the errors it was made of: their stacks, and the words of a system error", () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:3"), { code: "ECONNREFUSED" });
    const { detail, stack } = describeThrown(new TypeError("fetch failed", { cause: refused }));
    expect(detail).toBe("fetch failed: connect ECONNREFUSED 127.0.0.1:3");
    expect(stack).toContain("\ncaused by: Error: connect ECONNREFUSED 127.0.0.1:3\n");
    const loop = new ShopClosed("closed");
    loop.cause = loop;
    expect(describeThrown(loop).stack?.match(/caused by/g)).toBeNull();
  });

  test("a message of a megabyte is cut", () => {
    const { detail, stack } = describeThrown(new ShopClosed("x".repeat(1 << 20)));
    expect([detail.length, stack?.length]).toEqual([16_384, 16_384]);
  });
});

test("[HOST-3-6] a refusal without a type of its own is a ParseError", () => {
  const refusal = describeRefusal(new ToolplaneError("payload_too_large", "too large"));
  expect(refusal).toEqual({ id: null, fault: { type: "ParseError", detail: "too large" } });
  expect(describeRefusal("odd").fault.type).toBe("ParseError");
});
