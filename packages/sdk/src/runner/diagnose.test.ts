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

  test.each([
    ["a sentence of the plane", new ToolplaneError("tool_timeout", "too late")],
    ["nothing", undefined],
    ["a number", 5],
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
