// The project's own hosts, in both languages and in every form a module may have, keep every rule; and what the command says.

import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runProgram } from "../cli/program.ts";
import { TOOLPLANE } from "../toolplane-argv.ts";
import { check, failedIn, report } from "./check-run.ts";
import { NODE_HOST, PYTHON_HOST } from "./end-to-end-stack.ts";

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const LAUNCHER = ["node", "--conditions=source", pathOf("../../packages/sdk/bin/toolplane-host.mjs")];
const EXAMPLE = pathOf("../../examples/python-tool/text_tools.py");

describe.concurrent("[API-2-10] the project's own hosts keep every rule", () => {
  test.each([
    ["a Node program that runs itself", NODE_HOST],
    ["toolplane-host with tools made by defineTool", [...LAUNCHER, pathOf("./check-programs/defined-tools.ts")]],
    ["the Python host with functions", PYTHON_HOST],
    ["the Python host with decorated functions", [PYTHON_HOST[0] ?? "", PYTHON_HOST[1] ?? "", EXAMPLE]],
  ])("%s", async (_what, command) => {
    const { code, report: said } = await report({ command, timeoutMs: 30_000 });
    expect(said.clauses.filter(({ verdict }) => verdict === "fail")).toEqual([]);
    expect(said.summary.pass).toBeGreaterThanOrEqual(28);
    expect(code).toBe(0);
  });
});

describe("what it says", () => {
  test("[API-2-10] a line for every rule with its id, and a sum", async () => {
    const { out } = await check({ command: NODE_HOST, timeoutMs: 30_000 });
    expect(out).toMatch(/^pass {2}HOST-C01 {2}stdout has nothing but answers and events/m);
    expect(out.trimEnd().split("\n").at(-1)).toMatch(/^\d+ pass, 0 fail, \d+ not applicable$/);
  });

  test("[API-2-10] a config that init needs is given with --host-config, a tool is chosen with --tool", async () => {
    const wrong = await report({ command: NODE_HOST, tool: "say_no", config: "{}", timeoutMs: 30_000 });
    expect(failedIn(wrong.report)).toEqual([]);
  });

  test.each([
    ["a tool that is not there", { tool: "nowhere" }, "the host has no tool nowhere"],
    ["a config that is not an object", { config: "[1]" }, "--host-config takes a JSON object"],
    ["arguments that are not JSON", { arguments: "{" }, "--arguments takes a JSON object"],
  ])("[API-2-10] %s is said", async (_what, options, message) => {
    await expect(check({ command: NODE_HOST, timeoutMs: 30_000, ...options })).rejects.toThrow(message);
  });

  test("[API-2-10] a program that is not there, and one that says nothing", async () => {
    await expect(check({ command: ["no-such-program"] })).rejects.toMatchObject({
      message: "the host: there is no program no-such-program",
      detail: { todo: expect.stringContaining("installed") },
    });
    const silent = await check({ command: ["sleep", "60"], timeoutMs: 50 });
    expect(silent.code).toBe(3);
    expect(silent.err).toContain("never answered");
  });

  test.each([
    ["one that repeats what it hears", ["cat"]],
    ["one that floods", ["yes"]],
  ])("[API-2-10] %s is not waited for rule by rule", async (_what, command) => {
    const { code, err, out } = await check({ command, timeoutMs: 1_000 });
    expect([code, out.includes("fail  HOST-C10")]).toEqual([3, true]);
    // The first answers did not come, so nothing after them was asked.
    for (const clause of ["HOST-C04", "HOST-C16", "HOST-C24"])
      expect(out).toMatch(new RegExp(`^n/a +${clause} .* was not asked for: the host did not come that far`, "m"));
    expect(err).toContain("never answered");
  });

  test("[API-2-10] on the command line", async () => {
    const argv = [...TOOLPLANE, "host", "check", "--json", "--timeout", "30s"];
    const { code, out } = await runProgram([...argv, "--", ...NODE_HOST], { cwd: "/" });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ summary: { fail: 0 } });
  });
});
