// hosts/python/toolplane.py against a real server: results, errors, cancellation, deadlines, stops and deaths.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Program, runProgram } from "../cli/program.ts";
import { ROOT, type Stack, startStack } from "../cli/stack.ts";
import { requirePython, startPython } from "./programs.ts";

const ODD = "tests/examples/services/odd_tools.py";
const PATIENCE_MS = 60_000;
/** Shorter than the default lease: a dead service is noticed after one lease, a cancellation after a third of one. */
const LEASE_SECONDS = "6";

let stack: Stack;
let token: string;
let service: Program;
let marks: string;

const marked = (start: string): readonly string[] => readdirSync(marks).filter((name) => name.startsWith(start));
const untilMarked = (start: string, count = 1): Promise<void> =>
  until(start, () => marked(start).length >= count, PATIENCE_MS);
const serve = (env: Readonly<Record<string, string>> = {}): Promise<Program> =>
  startPython(ODD, { url: stack.url, token, env: { MARKS: marks, ...env } });
const outcome = (tool: string, args: object = {}): Promise<Record<string, unknown>> => stack.call(tool, args);
const begin = async (tool: string, args: object): Promise<string> =>
  String((await stack.call(tool, args, 0)).tool_call_id);
const show = (id: string): Promise<Record<string, unknown>> => stack.api("GET", `/projects/demo/calls/${id}`);
const cancel = (id: string): Promise<unknown> => stack.api("POST", `/projects/demo/calls/${id}/cancel`, {});

beforeAll(async () => {
  requirePython();
  marks = mkdtempSync(join(tmpdir(), "toolplane-marks-"));
  stack = await startStack({ TOOLPLANE_LEASE_SECONDS: LEASE_SECONDS });
  token = await stack.toolToken("odd");
  service = await serve();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
  rmSync(marks, { recursive: true, force: true });
});

describe("results", () => {
  test("[API-diagnostics-5] an operator sees the traceback of what a tool raised; its card has none", async () => {
    const { tool_call_id: id, error } = await outcome("throw", { kind: "key" });
    expect(error).toMatchObject({ code: "internal_error" });
    expect(JSON.stringify(error)).not.toContain("odd_tools.py");
    const { diagnostics } = await show(String(id));
    expect(diagnostics).toMatchObject({ name: "KeyError", stack: expect.stringContaining("odd_tools.py") });
  });

  test.each([[null], [true], [0], [-1.5], ["text \u0001 \u{1f642}"], [[]], [{}], [{ deep: [{ er: [1, null] }] }]])(
    "[API-6-8] %j comes back as it is",
    async (value) => {
      expect(await outcome("give", { value })).toMatchObject({
        status: "success",
        result: value,
        settled_by: "tool.odd",
      });
    },
  );

  test.each(["nan", "object", "cycle", "bytes"])(
    "[HOSTPY-1] a result that is not JSON (%s) fails with its own code",
    async (kind) => {
      const { status, error } = await outcome("unspeakable", { kind });
      expect([status, (error as { code: string }).code]).toEqual(["failed", "result_not_serializable"]);
    },
  );

  test.each([
    ["larger than a card", 3_000_000],
    ["larger than a request", 65 * 1024 * 1024],
  ])("[HOSTPY-2] a result %s fails with result_too_large", async (_, size) => {
    const { status, error } = await outcome("large", { size });
    expect([status, (error as { code: string }).code]).toEqual(["failed", "result_too_large"]);
  });

  test("an async function is a tool too", async () => {
    expect(await outcome("later", { text: "done" })).toMatchObject({ status: "success", result: "done" });
  });

  test("[HOSTPY-3] the context knows the call, the time left and a key that repeats only for the same call", async () => {
    const [one, two] = [await outcome("who"), await outcome("who")];
    const [first, second] = [one.result, two.result] as { key: string; call: string; left: number; agent: string }[];
    expect(first).toMatchObject({ call: one.tool_call_id, agent: "sys.api" });
    expect(first?.key).toMatch(/^tool\.demo\.who\.[0-9a-f]{64}$/);
    expect(first?.key).not.toBe(second?.key);
    expect(first?.left).toBeGreaterThan(20);
    expect(first?.left).toBeLessThanOrEqual(31);
  });
});

describe("errors", () => {
  test.each([
    ["tool", "own_code", "said no"],
    ["value", "internal_error", "it broke"],
    ["key", "internal_error", "KeyError: 'it broke'"],
    ["os", "upstream_unavailable", "it broke"],
    ["other", "internal_error", "it broke"],
    ["exit", "internal_error", "the tool called sys.exit('bye'): a tool must return or raise"],
    ["code", "internal_error", "the tool called sys.exit(3): a tool must return or raise"],
    ["base", "internal_error", "BaseException: it broke"],
  ])("[HOSTPY-4] %s becomes a failed result with the code %s", async (kind, code, message) => {
    const before = marked("throw").length;
    const { status, error } = await outcome("throw", { kind });
    expect([status, error]).toMatchObject(["failed", { code, message }]);
    // It is not declared safe, so it ran once.
    expect(marked("throw").length - before).toBe(1);
    expect(JSON.stringify(error)).not.toContain("Traceback");
  });

  test("[HOSTPY-5] a tool that is safe to repeat is tried again with backoff, three times at most [SEE-19]", async () => {
    const succeeded = await outcome("flaky", { failures: 2 });
    expect(succeeded).toMatchObject({ status: "success", result: 3, attempts: 1 });
    const failed = await outcome("flaky", { failures: 3 });
    expect(failed.error).toMatchObject({ code: "rate_limited", message: "not now" });
    // [SEE-19] An operator sees the tries.
    const stackOf = async (id: unknown) => ((await show(String(id))).diagnostics as { stack: string }).stack;
    expect(await stackOf(succeeded.tool_call_id)).toMatch(/^tried 3 times in this attempt; the last try succeeded;/);
    expect(await stackOf(failed.tool_call_id)).toMatch(/^tried 3 times in this attempt; the last failure:\nTraceback/);
  });

  test("[HOSTPY-27] a tool with a retry policy runs once for each lease, and the plane tries it again", async () => {
    const { tool_call_id: id, ...succeeded } = await outcome("governed", { failures: 2 });
    expect(succeeded).toMatchObject({ status: "success", result: 3, attempts: 3 });
    expect(marked(`governed-${String(id)}`)).toHaveLength(3);
    const failed = await outcome("governed", { failures: 3 });
    expect(failed).toMatchObject({ status: "failed", attempts: 3, error: { code: "sold_out", retryable: true } });
    // A rate counts each start.
    const { tool_call_id: rated } = await outcome("rated", {});
    expect(marked(`rated-${String(rated)}`)).toHaveLength(1);
  });
});

test("[SEE-20] a Python program finds the plane of the data directory beside it, as the command line does", () => {
  const find = (env: Record<string, string>): string =>
    execFileSync("python3", ["-c", "import toolplane; print(toolplane.find_plane())"], {
      cwd: marks,
      encoding: "utf8",
      env: { PATH: process.env.PATH, PYTHONPATH: join(ROOT, "hosts/python"), PYTHONDONTWRITEBYTECODE: "1", ...env },
    }).trim();
  expect(find({})).toBe("http://127.0.0.1:7420");
  mkdirSync(join(marks, ".toolplane"));
  writeFileSync(join(marks, ".toolplane/address"), "http://127.0.0.1:7999\n");
  expect(find({})).toBe("http://127.0.0.1:7999");
  expect(find({ TOOLPLANE_URL: "http://plane.example" })).toBe("http://plane.example");
});

describe("definitions", () => {
  test("[HOSTPY-6] type hints become JSON Schema, and arguments are checked against it before the tool runs", async () => {
    const { parameters, description } = await stack.json("tools", "show", "typed-tool");
    expect(description).toBe("Takes every kind of argument.");
    const anything = { description: "Any JSON value." };
    const point = {
      type: "object",
      properties: { x: { type: "number" }, y: { type: "number" } },
      required: ["x", "y"],
    };
    expect(parameters).toEqual({
      type: "object",
      additionalProperties: false,
      required: ["text", "flag", "numbers", "points", "table", "anything"],
      properties: {
        text: { type: "string", description: "What to say" },
        flag: { type: "boolean" },
        numbers: { type: "array", items: { type: "integer" } },
        points: { type: "array", items: point },
        table: { type: "object", additionalProperties: { type: "number" } },
        anything: { type: "array", items: anything },
        either: { anyOf: [{ type: "integer" }, { type: "string" }, { type: "null" }] },
        maybe: { anyOf: [{ type: "number" }, { type: "null" }] },
        word: { enum: ["a", "b"], default: "a" },
      },
    });
    expect((await stack.run(["call", "typed-tool", "{}"])).err).toMatch(
      /^toolplane: bad_request: .*\$\.text: is missing/,
    );
  });

  test("[HOSTPY-7] a second start registers nothing; what is registered stays at its version", async () => {
    expect(service.err()).toContain("registered give version 1");
    await using second = await serve();
    expect(second.err()).not.toContain("registered");
    expect(await stack.json("tools", "show", "give")).toMatchObject({ version: 1, source: "service:odd" });
  });

  test("[HOSTPY-8] without a token, or with one for another target, the service ends with one line", async () => {
    const started = startPython(ODD, { url: stack.url, token: "", env: { MARKS: marks } });
    await expect(started).rejects.toThrow("toolplane: set TOOLPLANE_TOKEN");
    const other = {
      url: stack.url,
      token: await stack.toolToken("other"),
      env: { MARKS: marks },
      ready: "toolplane: ",
    };
    await using refused = await startPython(ODD, other);
    expect((await refused.ended).code).toBe(1);
    expect(refused.err()).toMatch(/^toolplane: auth_failed: this token serves other, not odd$/m);
    expect(refused.err()).not.toContain("Traceback");
  });
});

describe("the end of a call", () => {
  test("[HOSTPY-9] a canceled call stops its tool", async () => {
    const id = await begin("wait_safe", { seconds: 600, name: "stop-me" });
    await untilMarked("stop-me-started");
    await cancel(id);
    await untilMarked("stop-me-cancelled");
    expect(marked("stop-me-finished")).toEqual([]);
    expect(await show(id)).toMatchObject({ status: "canceled" });
  });

  test("[HOSTPY-10] a tool that is deaf to its deadline is reported as timed out, and what it returns later is dropped", async () => {
    const { status, error, tool_call_id: id, result } = await outcome("deaf", { seconds: 4 });
    expect([status, (error as { code: string }).code]).toEqual(["timeout", "tool_timeout"]);
    await untilMarked("deaf-told");
    expect(await show(String(id))).toMatchObject({ status: "timeout", result });
  });
});

describe("the end of a service", () => {
  test("[HOSTPY-11] SIGTERM lets running calls finish, then ends with 0", async () => {
    await service[Symbol.asyncDispose]();
    await using stopping = await serve();
    const running = outcome("wait_safe", { seconds: 2, name: "finish-me" });
    await untilMarked("finish-me-started");
    stopping.signal("SIGTERM");
    expect(await running).toMatchObject({ status: "success", result: stopping.process.pid, attempts: 1 });
    expect(await stopping.ended).toEqual({ code: 0, signal: null });
    service = await serve();
  });

  test("[HOSTPY-12] what does not finish in time is asked to stop: a safe call is given back and runs elsewhere", async () => {
    await service[Symbol.asyncDispose]();
    await using stopping = await serve({ DRAIN: "0.1" });
    const safe = outcome("wait_safe", { seconds: 5, name: "move-me" });
    const unsafe = outcome("wait_unsafe", { seconds: 600, name: "drop-me" });
    await untilMarked("move-me-started");
    await untilMarked("drop-me-started");
    stopping.signal("SIGTERM");
    expect(await stopping.ended).toEqual({ code: 0, signal: null });
    service = await serve();
    expect(await safe).toMatchObject({ status: "success", result: service.process.pid });
    expect((await unsafe).error).toMatchObject({
      code: "canceled",
      message: "the service was stopped while the tool ran",
    });
    expect(marked("drop-me-started")).toHaveLength(1);
  });

  test("[HOSTPY-13] a second signal ends it at once", async () => {
    const stubborn = await serve();
    onTestFinished(() => stubborn[Symbol.asyncDispose]());
    await service[Symbol.asyncDispose]();
    const id = await begin("wait_unsafe", { seconds: 600, name: "leave-me" });
    await untilMarked("leave-me-started");
    stubborn.signal("SIGTERM");
    await stubborn.until("its word that it stops", (_, err) => (err.includes("stopping") ? true : undefined));
    stubborn.signal("SIGTERM");
    expect((await stubborn.ended).code).toBe(1);
    await cancel(id);
    service = await serve();
  });

  test("[HOSTPY-14] SIGKILL: a safe call runs again elsewhere, an unsafe one is outcome_unknown and never runs twice", async () => {
    await service[Symbol.asyncDispose]();
    const dying = await serve();
    const safe = outcome("wait_safe", { seconds: 3, name: "again" });
    const unsafe = outcome("wait_unsafe", { seconds: 3, name: "once" });
    await untilMarked("again-started");
    await untilMarked("once-started");
    dying.signal("SIGKILL");
    await dying[Symbol.asyncDispose]();
    service = await serve();
    expect(await safe).toMatchObject({ status: "success", attempts: 2, result: service.process.pid });
    const unknown = await unsafe;
    expect([unknown.status, unknown.error]).toMatchObject(["failed", { code: "outcome_unknown" }]);
    // The directory lists them by name, and 10041 comes before 9946.
    const ranIn = marked("again-started").map((name) => Number(name.split("-")[2]));
    expect(ranIn.toSorted()).toEqual([dying.process.pid, service.process.pid].toSorted());
    expect(marked("once-started")).toHaveLength(1);
    expect((await stack.json("why", String(unknown.tool_call_id))).todo).toContain("toolplane dead replay ");
  });
});

test("[HOSTPY-26] it is one file of the standard library, in the syntax of Python 3.9", async () => {
  const check = [
    "import ast, sys",
    "tree = ast.parse(open(sys.argv[1]).read(), feature_version=(3, 9))",
    "nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]",
    "names = {alias.name if isinstance(node, ast.Import) else node.module for node in nodes for alias in node.names}",
    "print(sorted({name.split('.')[0] for name in names} - set(getattr(sys, 'stdlib_module_names', names)) - {'__future__'}))",
  ];
  const argv = ["python3", "-c", check.join("\n"), join(ROOT, "hosts/python/toolplane.py")];
  expect(await runProgram(argv, { cwd: ROOT })).toEqual({ code: 0, out: "[]\n", err: "" });
});

test("the example of the documentation works as it is written", async () => {
  const token = await stack.toolToken("python");
  await using _example = await startPython("examples/python-tool/text_tools.py", { url: stack.url, token });
  const words = { text: "one three fourteen, two", count: 2 };
  expect(await outcome("longest_words", words)).toMatchObject({ result: ["fourteen", "three"] });
  expect(await outcome("longest_words", { text: "x", count: 0 })).toMatchObject({ error: { code: "bad_request" } });
  expect(await outcome("send_letter", { to: "ann", text: "hi" })).toMatchObject({ result: { to: "ann", pages: 3 } });
});

describe("a rollout", () => {
  const HALF = 100;
  const ROLLOUT = "tests/examples/services/rollout_tools.py";

  /** Calls made under a version, all at once; the argument says which. */
  const makeCalls = (made: string): Promise<readonly string[]> =>
    Promise.all(Array.from({ length: HALF }, () => begin("which", { made })));

  test("[ENG-pin-1] two versions serve 200 pinned calls: each ran on its own code, none failed", async () => {
    const runs = join(marks, "runs");
    const of = async (version: string): Promise<Program> =>
      startPython(ROLLOUT, {
        url: stack.url,
        token: await stack.toolToken("rollout"),
        env: { VERSION: version, RUNS: runs },
      });
    await (await of("1"))[Symbol.asyncDispose]();
    const older = await makeCalls("1");
    await using newer = await of("2");
    const all = [...older, ...(await makeCalls("2"))];
    await using back = await of("1");
    expect(back.err()).toContain("a newer version than this code's (version 1) is in force and stays");
    const ends = await Promise.all(all.map((id) => stack.api("GET", `/projects/demo/calls/${id}?wait_seconds=60`)));
    expect(ends.map(({ status }) => status)).toEqual(all.map(() => "success"));
    expect(ends.map(({ result }) => result)).toEqual([...older.map(() => "1"), ...older.map(() => "2")]);
    const counted = readFileSync(runs, "utf8").trim().split("\n").sort();
    expect(counted).toEqual([...older.map(() => "1 1"), ...older.map(() => "2 2")]);
    expect((await stack.api("GET", "/projects/demo/tools/which")).version).toBe(2);
    expect(newer.err()).not.toContain("newer version");
  });
});
