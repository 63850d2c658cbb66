// What tool() and serve() of hosts/python/toolplane.py refuse before they ask a server for anything.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { ROOT } from "../cli/stack.ts";
import { requirePython } from "./programs.ts";

beforeAll(requirePython);

/** Such a service would otherwise ask a server that is not there until it is stopped. */
const PATIENCE_MS = 10_000;
const COUNT = "concurrency must be a whole number from 1 to 1000";
const CLAIM = "claim_seconds must be a number from 0 to 60";
const DRAIN = "drain_seconds must be a number from 0 to 86400";
const python = (...lines: readonly string[]): string =>
  execFileSync("python3", ["-c", ["import toolplane", ...lines].join("\n")], {
    encoding: "utf8",
    timeout: PATIENCE_MS,
    env: { PATH: process.env.PATH, PYTHONPATH: join(ROOT, "hosts/python"), PYTHONDONTWRITEBYTECODE: "1" },
  }).trim();

test.each([
  ["concurrency=0", COUNT],
  ["concurrency=1.5", COUNT],
  ["concurrency='2'", COUNT],
  ["concurrency=True", COUNT],
  ["concurrency=1001", COUNT],
  ["claim_seconds=-1", CLAIM],
  ["claim_seconds=1e9", CLAIM],
  ["claim_seconds=60.5", CLAIM],
  ["claim_seconds=float('nan')", CLAIM],
  ["claim_seconds='5'", CLAIM],
  ["drain_seconds=-1", DRAIN],
  ["drain_seconds=float('inf')", DRAIN],
  ["drain_seconds=None", DRAIN],
  ["drain_seconds=True", DRAIN],
])("serve refuses %s, before it asks the server for anything", (option, message) => {
  const said = python(
    '@toolplane.tool(description="Says nothing.")',
    "def quiet() -> None: ...",
    "try:",
    `    toolplane.serve([quiet], "odd", url="http://127.0.0.1:1", token="t", ${option})`,
    "except ValueError as error: print(error)",
  );
  expect(said).toBe(message);
});

test.each([
  [
    'retry="safe", options={"retry": "never"}',
    `tool quiet: retry='safe' and options['retry']='never' say two things; leave one of them out`,
  ],
  [
    'timeout_seconds=5, options={"timeout_seconds": 6}',
    `tool quiet: timeout_seconds=5 and options['timeout_seconds']=6 say two things; leave one of them out`,
  ],
  ['retry="safe", options={"retry": "safe", "rate": None}', "{'retry': 'safe', 'rate': None}"],
])("tool(%s) does not choose between two values", (given, expected) => {
  const said = python(
    "try:",
    `    @toolplane.tool(name="quiet", ${given})`,
    "    def function() -> None: ...",
    "    print(function.options)",
    "except ValueError as error: print(error)",
  );
  expect(said).toBe(expected);
});
