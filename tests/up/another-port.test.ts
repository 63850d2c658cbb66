// A plane that comes back on another port: services that were started beside it, in TypeScript and in Python, find it again by themselves.
// The call that ran meanwhile is neither lost nor run twice.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { defineTool, serveTools } from "@toolplane/sdk";
import { until } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { startProgram } from "../cli/program.ts";
import { ROOT } from "../cli/stack.ts";
import { requirePython } from "../examples/programs.ts";
import { makeUsedPlace } from "./data.ts";
import { PATIENCE_MS, startUp } from "./up-process.ts";

const PYTHON = `
import os, time, toolplane

@toolplane.tool
def py_slow() -> str:
    with open("py-runs", "a") as file:
        file.write("x")
    while not os.path.exists("go"):
        time.sleep(0.02)
    return "done"

toolplane.serve([py_slow], target="py", claim_seconds=2)
`;

/** The port is in use again, by a program that is no plane. */
const holdPort = async (url: string): Promise<AsyncDisposable> => {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(Number(new URL(url).port), "127.0.0.1", resolve));
  return { [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())) };
};

test("[SEE-20] a service follows the plane beside it to another port, with the result of the call that ran", async () => {
  requirePython();
  await using place = await makeUsedPlace();
  const { root, dataDir } = place;
  const first = startUp({ dataDir, args: ["--demo"] });
  const before = await first.ready();
  const env = { TOOLPLANE_DATA: dataDir, TOOLPLANE_TOKEN: readFileSync(join(dataDir, "token"), "utf8").trim() };
  let runs = 0;
  const go = Promise.withResolvers<void>();
  const slow = defineTool({
    name: "ts_slow",
    description: "Waits until the test lets it go",
    parameters: { type: "object" },
    run: async () => {
      runs += 1;
      await go.promise;
      return "done";
    },
  });
  await using _service = await serveTools([slow], { target: "ts", env, handleSignals: false });
  writeFileSync(join(root, "tools.py"), PYTHON);
  const pythonEnv = { ...env, PYTHONPATH: join(ROOT, "hosts/python") };
  await using python = await startProgram(["python3", "tools.py"], { cwd: root, env: pythonEnv });
  await python.until("serving", (_, err) => (err.includes("serving ") ? true : undefined));
  const ids: string[] = [];
  for (const tool_name of ["ts_slow", "py_slow"])
    ids.push(String((await first.request("POST", "/projects/demo/calls", { tool_name })).body.tool_call_id));
  const pyRuns = () => (existsSync(join(root, "py-runs")) ? readFileSync(join(root, "py-runs"), "utf8") : "");
  await until("both run", () => runs === 1 && pyRuns() === "x", PATIENCE_MS);
  await first.killGroup();
  await using _held = await holdPort(before);
  await using second = startUp({ dataDir });
  expect(await second.ready()).not.toBe(before);
  go.resolve();
  writeFileSync(join(root, "go"), "");
  for (const id of ids) {
    const { body } = await second.request("GET", `/projects/demo/calls/${id}?wait_seconds=30`);
    expect(body).toMatchObject({ status: "success", result: "done", attempts: 1 });
  }
  for (const tool_name of ["ts_slow", "py_slow"]) {
    const { body } = await second.request("POST", "/projects/demo/calls", { tool_name, wait_seconds: 30 });
    expect(body).toMatchObject({ status: "success", result: "done" });
  }
  expect([runs, pyRuns()]).toEqual([2, "xx"]);
});
