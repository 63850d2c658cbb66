import { ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { createRunnerWorld } from "../../test/runner-world.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { ToolError } from "../tools/tool-error.ts";
import { diagnose } from "./diagnose.ts";

const scrubber = createScrubber(new Map([["KEY", "hunter2-and-more"]]));

describe("[API-diagnostics-5] diagnostics", () => {
  test("have the name, the message and the stack of what was thrown, and its causes", () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" });
    const said = diagnose(new TypeError("fetch failed", { cause: refused }), scrubber);
    expect(said).toMatchObject({ name: "TypeError", message: "fetch failed" });
    expect(said?.stack).toMatch(/^TypeError: fetch failed\n {4}at .*diagnose\.test\.ts/);
    expect(said?.stack).toContain("\ncaused by: Error: connect ECONNREFUSED 127.0.0.1:1\n");
  });

  test("are those of the cause when the plane put its own words around it", () => {
    const cause = { name: "KeyError", message: "'x'", stack: 'File "tool.py", line 3' };
    expect(diagnose(new ToolplaneError("internal_error", "host a failed", { cause }), scrubber)).toEqual(cause);
  });

  test("have the errors inside an AggregateError, and a cause that is a text", () => {
    const parts = [new Error("connect ECONNREFUSED ::1:3"), new Error("connect ECONNREFUSED 127.0.0.1:3")];
    const thrown = new TypeError("fetch failed", { cause: new AggregateError(parts) });
    const said = diagnose(thrown, scrubber)?.stack ?? "";
    expect(said.match(/^caused by: .*/gm)).toEqual([
      "caused by: AggregateError: ",
      "caused by: Error: connect ECONNREFUSED ::1:3",
      "caused by: Error: connect ECONNREFUSED 127.0.0.1:3",
    ]);
    expect(diagnose(new Error("x", { cause: "the shelf is empty" }), scrubber)?.stack).toContain(
      "\ncaused by: the shelf is empty",
    );
  });

  test.each([
    ["a text", "no stock", "string", "no stock"],
    ["undefined", undefined, "undefined", "the tool threw undefined"],
    ["null", null, "null", "the tool threw null"],
    ["an object", { a: 1, key: "hunter2-and-more" }, "object", "the tool threw { a: 1, key: '[redacted KEY]' }"],
  ])("[SEE-17] show a thrown value that is not an Error: %s", (_, thrown, name, message) => {
    expect(diagnose(thrown, scrubber)).toEqual({
      name,
      message,
      stack: `${message}\n(no stack: the value that was thrown is not an Error; throw new Error(...) to see the place)`,
    });
  });

  test.each([
    ["a sentence of the plane", new ToolplaneError("tool_timeout", "too late")],
    [
      "an error that cannot be looked at",
      new Proxy(new Error("x"), {
        get: () => {
          throw new RangeError("no");
        },
      }),
    ],
  ])("there are none for %s", (_, thrown) => {
    expect(diagnose(thrown, scrubber)).toBeUndefined();
  });

  test("hold no secret, also where a cut would go through one", () => {
    const error = new Error(`${"x".repeat(1_995)}hunter2-and-more`);
    error.stack = `${"y".repeat(7_990)}hunter2-and-more`;
    expect(JSON.stringify(diagnose(error, scrubber))).not.toContain("hunter");
  });

  test("end where causes go in a circle", () => {
    const error = new Error("round");
    error.cause = error;
    expect(diagnose(error, scrubber)?.message).toBe("round");
  });
});

test("[SEE-17] a thrown value that is not an Error is in the result, the diagnostics and the service's log", async () => {
  const world = createRunnerWorld({
    run: async () => {
      throw undefined;
    },
  });
  await world.runner.handle(world.call.command);
  const reason = "the tool threw undefined";
  expect(world.gateway.settled[0]).toMatchObject({
    error: { code: "internal_error", message: reason },
    diagnostics: { name: "undefined", message: reason },
  });
  const line = world.log.entries.find(({ message }) => message === "the tool failed");
  expect(line?.fields).toMatchObject({ code: "internal_error", reason, stack: expect.stringContaining("no stack") });
});

test.each([
  ["a plain error", new TypeError("boom"), "internal_error"],
  ["an error that the tool declares", new ToolError("own_code", "boom"), "own_code"],
])(
  "[API-diagnostics-5] %s is in the service's log with its stack, and in the result's diagnostics",
  async (_, thrown, code) => {
    const world = createRunnerWorld({
      run: async () => {
        throw thrown;
      },
    });
    await world.runner.handle(world.call.command);
    expect(world.gateway.settled[0]).toMatchObject({
      error: { code },
      diagnostics: { name: thrown.name, message: "boom", stack: expect.stringContaining("diagnose.test.ts") },
    });
    expect(JSON.stringify(world.gateway.settled[0]?.error)).not.toContain("diagnose.test.ts");
    const line = world.log.entries.find(({ message }) => message === "the tool failed");
    expect(line?.fields).toMatchObject({ code, reason: "boom", stack: expect.stringContaining("diagnose.test.ts") });
  },
);

describe("[SEE-19] tries within one attempt", () => {
  const flaky = (failures: number) => {
    let tries = 0;
    const world = createRunnerWorld({
      profile: { retry: "safe" },
      run: async () => {
        tries += 1;
        if (tries <= failures) throw new TypeError(`boom ${tries}`);
        return "open";
      },
    });
    return { world, handled: world.runner.handle(world.call.command) };
  };

  test.each([
    [3, "failed", /^tried 3 times in this attempt; the last failure:\nTypeError: boom 3\n/],
    [
      2,
      "success",
      /^tried 3 times in this attempt; the last try succeeded; the failure before it:\nTypeError: boom 2\n/,
    ],
  ])("after %i failures the call is %s, and says how often it was tried", async (failures, status, stack) => {
    const { world, handled } = flaky(failures);
    await world.clock.advance(5_000);
    expect(await handled).toMatchObject({ status });
    expect(world.gateway.settled[0]?.diagnostics?.stack).toMatch(stack);
  });

  test("a call that succeeds at once has no diagnostics", async () => {
    const { world, handled } = flaky(0);
    await handled;
    expect(world.gateway.settled[0]?.diagnostics).toBeUndefined();
  });
});
