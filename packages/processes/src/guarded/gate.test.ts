import { describe, expect, test } from "vitest";
import { passableEnv, planGatedArgs, planStdio } from "./gate.ts";

describe("planGatedArgs", () => {
  test("the command is arguments, never shell text", () => {
    const args = planGatedArgs(["/bin/echo", "$(touch /tmp/x)", "; rm -rf /"], 3, {});
    expect(args.slice(3)).toEqual(["/bin/echo", "$(touch /tmp/x)", "; rm -rf /"]);
    expect(args[1]).not.toContain("rm -rf");
  });

  test("a variable the caller gave is not unset, one a shell would make is", () => {
    const script = planGatedArgs(["true"], 3, { PWD: "/x" })[1] ?? "";
    expect(script.split(" ")).not.toContain("PWD");
    expect(script.split(" ")).toContain("SHLVL");
  });
});

test.each<[Parameters<typeof planStdio>[0], unknown[]]>([
  [undefined, ["ignore", "ignore", "ignore"]],
  ["inherit", ["inherit", "inherit", "inherit"]],
  [["pipe"], ["pipe", "pipe", "pipe"]],
  [
    ["ignore", 5, "pipe", "pipe"],
    ["ignore", 5, "pipe", "pipe"],
  ],
])("planStdio(%j)", (given, expected) => {
  expect(planStdio(given)).toEqual(expected);
});

test("passableEnv leaves out names that shells drop", () => {
  expect(passableEnv({ A: "1", _b2: "2", "with-dash": "3", "1x": "4", "": "5", "a.b": "6" })).toEqual({
    A: "1",
    _b2: "2",
  });
});
