// examples/any-language: a tool service with nothing but curl and a shell, against a real server.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findDescendants, until } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Program, runProgram } from "../cli/program.ts";
import { ROOT, type Stack, startStack } from "../cli/stack.ts";
import { requireCurl, startShell } from "./programs.ts";

const PATIENCE_MS = 60_000;
/** Shorter than leases are by default, so that to outlast one takes seconds. */
const LEASE_SECONDS = 6;
const BEAT_SECONDS = LEASE_SECONDS / 3;

let stack: Stack;
let service: Program;
let token: string;
let scratch: string;

const serve = (): Promise<Program> =>
  startShell("examples/any-language/service.sh", {
    url: stack.url,
    token,
    env: { TMPDIR: scratch, TOOLPLANE_BEAT_SECONDS: String(BEAT_SECONDS) },
  });

/** The command lines of everything below a program, as everybody on the machine can see them. */
const commandsBelow = (program: Program): string => {
  const pids = findDescendants(program.process.pid).map(({ pid }) => pid);
  if (pids.length === 0) return "";
  // Some of them may be gone by now; ps then complains about those.
  return spawnSync("ps", ["-ww", "-o", "args=", "-p", pids.join(",")], { encoding: "utf8" }).stdout;
};
const sleeping = (program: Program): boolean => commandsBelow(program).includes("sleep 600");

beforeAll(async () => {
  requireCurl();
  stack = await startStack({ TOOLPLANE_LEASE_SECONDS: String(LEASE_SECONDS) });
  token = await stack.toolToken("shell");
  scratch = mkdtempSync(join(tmpdir(), "toolplane-shell-"));
  service = await serve();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true, force: true });
});

test("[ANYLANG-1] it registers its tool, and a call comes back with a result", async () => {
  expect(await stack.json("tools", "show", "greet")).toMatchObject({ version: 1, source: "service:shell" });
  expect(await stack.call("greet", { name: "Ada" })).toMatchObject({
    status: "success",
    result: { greeting: "Hello, Ada!" },
    settled_by: "tool.shell",
  });
});

test.each([
  ['quotes " and backslashes \\ and \\n'],
  ['","name":"other'],
  ["línea \u{1f642}"],
  ["tab\tnew\nline\u0001"],
  ["$(touch never) `id` %s %d ' ; exit"],
])("[ANYLANG-2] any text passes through unchanged: %j", async (name) => {
  expect((await stack.call("greet", { name })).result).toEqual({ greeting: `Hello, ${name}!` });
});

test("[ANYLANG-3] a call that takes longer than a lease is kept by heartbeats", async () => {
  const { status, attempts } = await stack.call("greet", { name: "slow", seconds: LEASE_SECONDS + 3 });
  expect([status, attempts]).toEqual(["success", 1]);
});

test("[ANYLANG-4] a canceled call stops the work, reports nothing, and the next call runs", async () => {
  const { tool_call_id: id } = await stack.call("greet", { name: "x", seconds: 600 }, 0);
  await until("the work", () => sleeping(service), PATIENCE_MS);
  await stack.api("POST", `/projects/demo/calls/${String(id)}/cancel`, {});
  await service.until("its word", (_, err) =>
    err.includes(`call ${String(id)} is over: nothing to report`) ? true : undefined,
  );
  expect(sleeping(service)).toBe(false);
  expect(await stack.call("greet", { name: "next" })).toMatchObject({ status: "success" });
});

test("[ANYLANG-5] SIGTERM lets the call finish and leaves nothing behind", async () => {
  const running = stack.call("greet", { name: "last", seconds: 3 });
  await until("the work", () => commandsBelow(service).includes("sleep 3\n"), PATIENCE_MS);
  service.signal("SIGTERM");
  expect(await running).toMatchObject({ status: "success", result: { greeting: "Hello, last!" } });
  expect((await service.ended).code).toBe(0);
  expect(readdirSync(scratch)).toEqual([]);
});

test("the shell service shows what the server answers to a token of another target", async () => {
  const env = { TOOLPLANE_URL: stack.url, TOOLPLANE_TOKEN: await stack.toolToken("other"), TMPDIR: scratch };
  const { code, out, err } = await runProgram(["sh", "examples/any-language/service.sh"], { cwd: ROOT, env });
  expect([code, out]).toEqual([1, ""]);
  expect(err).toContain("this token registers tools for other only");
});

test("[ANYLANG-6] the token is in no command line", async () => {
  await using watched = await serve();
  await until("an open claim", () => commandsBelow(watched).includes("/tool-services/shell/claim"), PATIENCE_MS);
  expect(commandsBelow(watched)).not.toContain(token);
});
