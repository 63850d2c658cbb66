import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createFakeTerminal } from "../../test/cli/fake-terminal.ts";
import { COMMANDS, LATER_COMMANDS } from "./commands.ts";
import { helpFor, overview, usageOf } from "./help.ts";
import { OPTIONS } from "./options.ts";

const run = async (...argv: readonly string[]) => {
  const terminal = createFakeTerminal();
  const code = await terminal.run(...argv);
  return { code, out: terminal.out(), err: terminal.err(), requests: terminal.requests };
};

describe("the command line", () => {
  test.each([
    ["nothing at all", [], "say what to do"],
    ["an unknown command", ["frobnicate"], 'there is no command "frobnicate"'],
    ["a mistyped command", ["clal", "x"], 'there is no command "clal"; did you mean call?'],
    ["a mistyped flag", ["calls", "list", "--jsno"], "Unknown option '--jsno'; did you mean --json?"],
    [
      "a limit as the API names it",
      ["projects", "limits", "demo", "--target-breaker", "0.5/60s/30s"],
      "Unknown option '--target-breaker'; did you mean --breaker?",
    ],
    [
      "a limit without a flag",
      ["tools", "limits", "search", "--retry-policy", "3"],
      "Unknown option '--retry-policy'; retry_policy is changed over the API (PATCH /projects/P/tools/TOOL/limits) or in the definition",
    ],
    ["half a command", ["cards"], '"cards" needs one more word: show'],
    ["an unknown second word", ["calls", "eat"], 'there is no command "calls eat"'],
    ["an unknown flag", ["calls", "list", "--frob"], "Unknown option '--frob'"],
    ["a flag of another command", ["calls", "list", "--key", "k"], "calls list takes no --key"],
    ["a flag at the end without its value", ["call", "echo", "--wait"], "--wait needs a value; one that begins"],
    [
      "a value for a flag that takes none",
      ["calls", "list", "--json=yes"],
      "Option '--json' does not take an argument",
    ],
    ["a flag without its value", ["run", "ann", "go", "--continue"], "--continue needs a value; one that begins"],
    ["a flag whose value looks like one", ["calls", "list", "--limit", "-1"], "--limit needs a value; one that begins"],
    ["a negative limit", ["calls", "list", "--limit=-1"], '--limit takes a whole number from 1 to 500, not "-1"'],
    ["a limit that is not a number", ["token", "list", "--limit", "all"], "--limit takes a whole number from 1 to 500"],
    [
      "a status that no call has",
      ["calls", "list", "--status", "zzz"],
      '--status takes one of queued, running, awaiting_approval, success, failed, canceled, timeout, partial, not "zzz"',
    ],
    [
      "a status that no turn has",
      ["turns", "list", "--status", "awaiting_approval"],
      "--status takes one of queued, dispatched, running, suspended, success, failed, canceled, timeout, partial, not",
    ],
    [
      "a status that no delivery has",
      ["webhooks", "deliveries", "w", "--status", ""],
      '--status takes one of pending, delivered, dead, not ""',
    ],
    ["an empty key of a call", ["call", "echo", "--key", ""], "--key takes a text that is not empty; without --key"],
    ["an empty key of a retry", ["calls", "retry", "last", "--key="], "--key takes a text that is not empty"],
    ["an empty key of a turn", ["run", "ann", "go", "--key", " "], "--key takes a text that is not empty"],
    ["too few arguments", ["call"], "call needs TOOL [JSON|@file|-]"],
    ["an empty argument", ["why", " "], "why needs ID"],
    ["too many arguments", ["why", "a", "b"], 'why does not take "b"'],
    ["a bad port", ["up", "--port", "high"], '--port takes a number from 0 (any free one) to 65535, not "high"'],
    ["a bad role", ["token", "create", "--role", "king"], "--role takes one of admin, operator, agent, tool, viewer"],
  ])("[API-2-K5] %s is wrong usage: exit code 2, one line, nothing sent", async (_, argv, message) => {
    const { code, out, err, requests } = await run(...argv);
    expect(code).toBe(2);
    expect(err.startsWith(`toolplane: usage: ${message}`)).toBe(true);
    expect(err.split("\n")).toHaveLength(2);
    expect(err).toContain("; see toolplane help");
    expect([out, requests]).toEqual(["", []]);
  });

  test.each([...LATER_COMMANDS])("[API-2-K6] %s says that it is not part of this version", async (name) => {
    const { code, err } = await run(...name.split(" "), "x");
    expect([code, err]).toEqual([2, `toolplane: usage: "${name}" is not part of this version; see toolplane help\n`]);
    expect(overview()).not.toMatch(new RegExp(`^ +${name} `, "m"));
  });

  test("a status that is known is sent", async () => {
    for (const argv of [
      ["calls", "list", "--status", "awaiting_approval"],
      ["turns", "list", "--status", "suspended"],
      ["webhooks", "deliveries", "w", "--status", "dead"],
    ])
      expect((await run(...argv)).requests[0]?.url).toContain(`status=${argv.at(-1)}`);
  });

  test("flags may stand before, between and after the words", async () => {
    for (const argv of [
      ["--project", "p", "calls", "list"],
      ["calls", "--project", "p", "list"],
      ["calls", "list", "--project=p"],
    ])
      expect((await run(...argv)).requests[0]?.url).toBe("http://127.0.0.1:7420/projects/p/calls");
  });

  test("[API-2-K7] --version prints the version and nothing else", async () => {
    const { code, out } = await run("--version");
    expect([code, /^\d+\.\d+\.\d+\n$/.test(out)]).toEqual([0, true]);
  });

  test("ids are encoded, so a path stays below its project", async () => {
    const { requests } = await run("calls", "show", "../../tokens?x=#y");
    expect(requests[0]?.url).toBe("http://127.0.0.1:7420/projects/demo/calls/..%2F..%2Ftokens%3Fx%3D%23y");
  });
});

describe("the reference page", () => {
  const page = readFileSync(new URL("../../../../docs/reference/cli.md", import.meta.url), "utf8");

  test.each(COMMANDS.map((command) => [usageOf(command)]))("[API-2-K26] has %s", (usage) => {
    expect(page.split("\n")).toContain(usage);
  });

  test("[API-2-K26] has no command that is not there, and says which are to come", () => {
    const written = page.split("\n").filter((line) => line.startsWith("toolplane "));
    expect(written.toSorted()).toEqual(COMMANDS.map(usageOf).toSorted());
    const [, later = ""] = page.split("## Not in this version");
    expect((later.match(/`([a-z ]+)`/g) ?? []).map((name) => name.slice(1, -1)).toSorted()).toEqual(
      [...LATER_COMMANDS].toSorted(),
    );
  });
});

describe("help", () => {
  test("[API-2-K8] names every command and every flag", async () => {
    const { code, out } = await run("help");
    expect(code).toBe(0);
    for (const { name } of COMMANDS) expect(out).toMatch(new RegExp(`^ +${name}( |$)`, "m"));
    const flags = COMMANDS.flatMap(({ name }) => helpFor(name.split(" ")).match(/--[a-z-]+/g) ?? []);
    const everywhere = out.match(/--[a-z-]+/g) ?? [];
    for (const name of Object.keys(OPTIONS)) expect([...flags, ...everywhere]).toContain(`--${name}`);
  });

  test.each([
    ["help", "call"],
    ["call", "--help"],
    ["call", "-h"],
  ])("%s %s shows how a command is written", async (...argv) => {
    const { out } = await run(...argv);
    expect(
      out.startsWith(
        "usage: toolplane call TOOL [JSON|@file|-] [--project P] [--agent A] [--wait 30s] [--key KEY] [--at TIME]\n",
      ),
    ).toBe(true);
  });

  test("a first word shows all its commands; an unknown one is wrong usage", async () => {
    expect((await run("help", "tools")).out.match(/^usage: /gm)).toHaveLength(9);
    expect((await run("up", "--help")).out).toContain("--data DIR");
    expect((await run("tools", "limits", "--help")).out).toContain("retry_policy");
    expect((await run("help", "frobnicate")).code).toBe(2);
  });

  test("no two commands share a name, and each says what it is for", () => {
    expect(new Set(COMMANDS.map(({ name }) => name)).size).toBe(COMMANDS.length);
    for (const command of COMMANDS) expect(command.summary.length, usageOf(command)).toBeGreaterThan(10);
  });
});
