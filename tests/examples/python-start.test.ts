// How hosts/python/toolplane.py ends when it cannot start: one line, which names the tool or the setting, and no traceback.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../cli/program.ts";
import { ROOT } from "../cli/stack.ts";
import { requirePython } from "./programs.ts";
import { type ScriptedPlane, startScriptedPlane } from "./scripted-plane.ts";

let plane: ScriptedPlane;

beforeAll(async () => {
  requirePython();
  plane = await startScriptedPlane();
});
afterAll(async () => {
  await plane[Symbol.asyncDispose]();
});

/** A program that serves one tool with these options, and what it ends with. */
const endOf = async (options: string, url = plane.url) => {
  const program = [
    "import toolplane",
    `@toolplane.tool(description="Finds nothing.", options=${options})`,
    "def search_all() -> None: ...",
    'toolplane.serve([search_all], "odd")',
  ].join("\n");
  const { code, err } = await runProgram(["python3", "-c", program], {
    cwd: ROOT,
    env: {
      TOOLPLANE_URL: url,
      TOOLPLANE_TOKEN: "secret-token",
      PYTHONPATH: join(ROOT, "hosts/python"),
      PYTHONDONTWRITEBYTECODE: "1",
    },
  });
  return { code, said: err.trim() };
};

describe("[HOSTPY-8] a definition that is wrong", () => {
  test.each([
    'tool definition is not valid: $.options: unknown key "concurency"',
    "options.retry_policy needs retry: safe; a tool that is not safe is never tried again",
  ])("is named by its tool before the words of the server: %s", async (message) => {
    const unknown = { status: 404, body: { error: { code: "not_found", message: "no" } } };
    plane.script("/tools", unknown, { status: 400, body: { error: { code: "bad_request", message } } });
    expect(await endOf("{}")).toEqual({ code: 1, said: `toolplane: bad_request: search_all: ${message}` });
  });

  test.each([
    [
      "{'timeout_seconds': float('nan')}",
      "options.timeout_seconds is nan; JSON has no NaN and no infinities; send None, a text or a finite number",
    ],
    ["{'tags': {1, 2}}", "the definition is not JSON: Object of type set is not JSON serializable"],
  ])("is not sent when it is not JSON: %s", async (options, why) => {
    const asked = plane.seen.length;
    expect(await endOf(options)).toEqual({ code: 1, said: `toolplane: bad_request: search_all: ${why}` });
    expect(plane.seen.length).toBe(asked);
  });
});

test("[HOSTPY-8] an address of NATS ends the service with one line that shows no password", async () => {
  expect(await endOf("{}", "nats://me:hunter2@127.0.0.1:4222")).toEqual({
    code: 1,
    said: "toolplane: bad_request: TOOLPLANE_URL must be an http or https address such as http://127.0.0.1:7420; toolplane.py does not speak NATS: give it the address of the plane, or write the service as examples/nats-python does",
  });
});
