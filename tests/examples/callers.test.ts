// The programs of callers that the README and examples/callers show, run as they are.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ERROR_TABLE } from "@toolplane/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../cli/program.ts";
import { ROOT, type Stack, startStack } from "../cli/stack.ts";
import { startCuttingProxy } from "../client/cutting-proxy.ts";
import { makePlace } from "../up/data.ts";
import { requirePython } from "./programs.ts";
import { readBlocks, sectionOf } from "./readme.ts";
import { type ScriptedPlane, startScriptedPlane } from "./scripted-plane.ts";

const NODE = [process.execPath, "--conditions=source", "--no-warnings"] as const;
const example = (name: string): string => join(ROOT, "examples/callers", name);

/** A program without its comments. */
const codeOf = (name: string): string =>
  readFileSync(example(name), "utf8")
    .split("\n")
    .filter((line) => !line.startsWith("//"))
    .join("\n")
    .trim();

test("[API-6-K1] the README shows two programs of callers as they are run, in at most 15 lines", () => {
  const section = sectionOf(readFileSync(join(ROOT, "README.md"), "utf8"), "From your own program");
  const shown = readBlocks(section).filter(({ kind }) => kind === "ts");
  expect(shown.map(({ text }) => text.trim())).toEqual([codeOf("call-tools.ts"), codeOf("open-plane.ts")]);
  for (const { text } of shown) expect(text.trim().split("\n").length).toBeLessThanOrEqual(15);
});

test("[API-6-L1] a program with the plane as its library needs nothing else", async () => {
  await using place = await makePlace();
  const { code, out, err } = await runProgram([...NODE, example("open-plane.ts")], { cwd: place.root });
  expect([code, out, err]).toEqual([0, "Hello, Ada!\n", ""]);
});

describe("a plane that asks for a pause", () => {
  const PROGRAM = `
import sys
from toolplane import ToolplaneError, connect
try:
    print(connect().call("any", wait=float(sys.argv[1])))
except ToolplaneError as error:
    print(error.code, error.retryable, error.detail)
`;
  const callWith = async (plane: ScriptedPlane, wait: string): Promise<string> => {
    const env = { TOOLPLANE_URL: plane.url, TOOLPLANE_TOKEN: "t", PYTHONPATH: join(ROOT, "hosts/python") };
    return (await runProgram(["python3", "-c", PROGRAM, wait], { cwd: ROOT, env })).out.trim();
  };
  const refusal = (status: number, code: string, seconds: number) => ({
    status,
    body: { error: { code, message: "later", detail: { retry_after_seconds: seconds } } },
  });

  // The script has one refusal: a client that asks again is answered, and that shows.
  test.each([
    [429, "rate_limited"],
    [503, "breaker_open"],
  ])("[API-6-P2] %d %s beyond the wait raises at once from Python", async (status, code) => {
    await using plane = await startScriptedPlane();
    plane.script("/calls", refusal(status, code, 9), { body: { status: "success", result: "asked again" } });
    expect(await callWith(plane, "3")).toBe(`${code} True {'retry_after_seconds': 9}`);
    expect(plane.requests("/calls")).toHaveLength(1);
  });

  test("[API-6-P2] the header Retry-After counts as well", async () => {
    await using plane = await startScriptedPlane();
    const body = { error: { code: "rate_limited", message: "later" } };
    const headers = { "retry-after": "9" };
    plane.script("/calls", { status: 429, body, headers }, { body: { status: "success", result: "asked again" } });
    expect(await callWith(plane, "3")).toBe("rate_limited True {'retry_after_seconds': 9}");
  });

  test("[API-6-P2] a wait that is shorter than any pause ends with the first refusal", async () => {
    await using plane = await startScriptedPlane();
    const body = { error: { code: "storage_error", message: "away" } };
    plane.script("/calls", { status: 503, body }, { body: { status: "success", result: "asked again" } });
    expect(await callWith(plane, "0.01")).toBe("storage_error True None");
  });

  test("[API-6-P2] a pause within the wait is made, and the call goes on", async () => {
    await using plane = await startScriptedPlane();
    plane.script("/calls", refusal(429, "rate_limited", 0.3), { body: { status: "success", result: "passed" } });
    expect(await callWith(plane, "60")).toBe("passed");
  });
});

test("[API-6-P1] a mistake of a Python program, and a server that is not there, are typed and say what to do", async () => {
  requirePython();
  await using plane = await startScriptedPlane();
  const program = `
import os
from toolplane import ToolplaneError, connect
url = os.environ["TOOLPLANE_URL"]
plane, nobody, tls = connect(), connect("http://127.0.0.1:3"), connect(url.replace("http:", "https:"))
nobody._began -= 60
for ask in (
    lambda: plane.call("any", {1, 2}),
    lambda: plane.call("any", wait="x"),
    lambda: plane.call("any", wait=-1),
    lambda: plane.call("any", wait=float("nan")),
    lambda: plane.wait(""),
    lambda: plane.cancel(".."),
    lambda: plane.why(None),
    lambda: next(plane.call_many([("any", {1})]))[1],
    lambda: connect("nats://user:hush@127.0.0.1:4222"),
    lambda: nobody.call("any"),
    lambda: next(nobody.call_many([("any", {})]))[1],
    lambda: tls.call("any"),
):
    try:
        print("no error", ask())
    except ToolplaneError as error:
        print(error)
    except Exception as error:
        print(type(error).__name__, error)
`;
  const env = { TOOLPLANE_URL: plane.url, TOOLPLANE_TOKEN: "t", PYTHONPATH: join(ROOT, "hosts/python") };
  const { out } = await runProgram(["python3", "-c", program], { cwd: ROOT, env });
  const advice = "start it with: toolplane up, or name another one in TOOLPLANE_URL";
  const wait = "bad_request: wait is a number of seconds, 0 or more, not";
  const id = "bad_request: the id of a call is a text as the plane gave it, not";
  expect(out.trim().split("\n")).toEqual([
    "bad_request: the arguments are not JSON: Object of type set is not JSON serializable",
    `${wait} 'x'`,
    `${wait} -1`,
    `${wait} nan`,
    `${id} ''`,
    `${id} '..'`,
    `${id} None`,
    "no error bad_request: the arguments are not JSON: Object of type set is not JSON serializable",
    "bad_request: url must be an http or https address such as http://127.0.0.1:7420; toolplane.py does not speak NATS: give it the address of the plane, or write the service as examples/nats-python does",
    `upstream_unavailable: no server answers at http://127.0.0.1:3; ${advice}`,
    `no error upstream_unavailable: no server answers at http://127.0.0.1:3; ${advice}`,
    `upstream_unavailable: ${plane.url.replace("http:", "https:")} does not speak TLS; write http:// if the server has no certificate`,
  ]);
  expect(plane.requests("/calls")).toHaveLength(0);
});

describe("against a server", () => {
  let stack: Stack;
  beforeAll(async () => {
    requirePython();
    stack = await startStack();
  });
  afterAll(() => stack[Symbol.asyncDispose]());

  const envOf = (url = stack.url) => ({
    TOOLPLANE_URL: url,
    TOOLPLANE_TOKEN: stack.token,
    PYTHONPATH: join(ROOT, "hosts/python"),
  });

  test("[API-6-C7] a program calls tools, follows an agent and hears why a call failed", async () => {
    const { code, out, err } = await runProgram([...NODE, example("call-tools.ts")], { cwd: ROOT, env: envOf() });
    expect([code, err]).toEqual([0, ""]);
    const lines = out.split("\n");
    expect(lines[0]).toBe("6 and 4 words");
    expect(lines.slice(1).join("\n")).toContain("You wrote 6 words, 4 of them different.\ntool_error: not today\n");
  });

  test("[API-6-P1] the same from Python: results, many calls, typed exceptions", async () => {
    const { code, out, err } = await runProgram(["python3", example("call_tools.py")], { cwd: ROOT, env: envOf() });
    expect([code, err]).toEqual([0, ""]);
    const [first, ...rest] = out.trim().split("\n");
    expect(first).toBe("6 words");
    expect(rest.slice(0, 3).toSorted()).toEqual(["0 1", "1 2", "2 3"]);
    expect(rest[3]).toBe("tool_error not today False True");
  });

  const PYTHON = `
import sys
from toolplane import ToolplaneError, connect
plane = connect()
print(plane.call("word_count", {"text": "lost and found again"})["total"])
print([result["total"] for _, result in sorted(plane.call_many([("word_count", {"text": "x " * n}) for n in (11, 12)]))])
try:
    plane.call("sleep", {"seconds": 60}, wait=0.2)
except ToolplaneError as error:
    print(error.code, error.retryable, plane.cancel(error.call_id)["canceled"], plane.why(error.call_id)["status"])
try:
    plane.call("fail", {"code": "sold_out", "message": "none left"})
except ToolplaneError as error:
    print(error.code, error.detail["code"], error.detail["status"], error.call_id is not None)
for wrong in (lambda: plane.call("nothing"), lambda: plane.call("word_count", {"text": 1}),
              lambda: connect(token="no").call("echo"), lambda: connect(url="http://127.0.0.1:9").call("echo", wait=1)):
    try:
        wrong()
    except ToolplaneError as error:
        print(error.code)
`;

  test("[API-6-P1] the Python file knows the codes of the error table", () => {
    const [, codes = ""] = readFileSync(join(ROOT, "hosts/python/toolplane.py"), "utf8").split(
      "ERROR_CODES = frozenset(",
    );
    const known = (codes.split('"""')[1] ?? "").trim().split(/\s+/);
    expect(known.sort()).toEqual(Object.keys(ERROR_TABLE).sort());
  });

  test("[API-6-P1] [API-6-C2] a lost answer runs no tool twice from Python, and each trouble has its code", async () => {
    await using proxy = await startCuttingProxy(stack.url);
    const lost = proxy.loseAnswer('"total":4');
    const running = runProgram(["python3", "-c", PYTHON], { cwd: ROOT, env: envOf(proxy.url) });
    await lost;
    const lostMany = proxy.loseAnswer('"total":12');
    const { code, out, err } = await running;
    await lostMany;
    expect([code, err]).toEqual([0, ""]);
    expect(out.trim().split("\n")).toEqual([
      "4",
      "[11, 12]",
      "still_running True True canceled",
      "tool_error sold_out failed True",
      "not_found",
      "bad_request",
      "unauthorized",
      "upstream_unavailable",
    ]);
    const { items } = (await stack.api("GET", "/projects/demo/calls?limit=200")) as {
      items: { idempotency_key: string; tool_name: string; attempts: number }[];
    };
    const made = items.filter(({ idempotency_key: key }) => key?.startsWith("python-"));
    expect(made.filter(({ tool_name: tool }) => tool === "word_count").map(({ attempts }) => attempts)).toEqual(
      made.filter(({ tool_name: tool }) => tool === "word_count").map(() => 1),
    );
    // Three texts of the example, and three here: none was made twice.
    expect(made.filter(({ tool_name: tool }) => tool === "word_count")).toHaveLength(6);
  });
});
