// docs/guides/any-language.md: its Python program and its curl commands, run as they are written. On the same stack: the commands of
// docs/guides/operate.md and the program of docs/guides/own-agent-loop.md.

import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { runProgram, startProgram } from "../cli/program.ts";
import { ROOT, type Stack, startStack } from "../cli/stack.ts";
import { requireCurl, requirePython } from "./programs.ts";
import { readBlocks } from "./readme.ts";

const blocks = readBlocks(readFileSync(join(ROOT, "docs/guides/any-language.md"), "utf8"));
const curls = blocks.filter(({ kind, text }) => kind === "sh" && text.startsWith("curl ")).map(({ text }) => text);

let stack: Stack;
/** As the guide makes it. */
let guideToken: string;
beforeAll(async () => {
  requirePython();
  requireCurl();
  stack = await startStack();
  const command = blocks[0]?.text.match(/\$\(toolplane (token create [^)]*)\)/)?.[1] ?? "";
  guideToken = (await stack.run(command.split(" "))).out.trim();
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
});

test("[ANYLANG-7] the Python program of the guide works beside a copy of toolplane.py", async () => {
  const directory = mkdtempSync(join(tmpdir(), "toolplane-guide-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  copyFileSync(join(ROOT, "hosts/python/toolplane.py"), join(directory, "toolplane.py"));
  writeFileSync(join(directory, "tools.py"), blocks.find(({ kind }) => kind === "python")?.text ?? "");
  const env = { TOOLPLANE_URL: stack.url, TOOLPLANE_TOKEN: guideToken };
  await using service = await startProgram(["python3", "tools.py"], { cwd: directory, env });
  await service.until("serving", (_, err) => (err.includes("serving") ? true : undefined));
  expect(await stack.call("count_words", { text: "one two three" })).toMatchObject({
    status: "success",
    result: { words: 3 },
  });
});

test("[ANYLANG-8] the steps of the guide, one curl after the other, settle a call", async () => {
  const env: Record<string, string> = {
    TOOLPLANE_TOKEN: guideToken,
    api: `${stack.url}/projects/demo`,
  };
  const step = async (index: number): Promise<Record<string, unknown>> => {
    const said = await runProgram(["sh", "-c", curls[index] ?? ""], { cwd: join(ROOT, "examples/any-language"), env });
    return JSON.parse(said.out) as Record<string, unknown>;
  };
  expect(curls).toHaveLength(6);
  expect(await step(0)).toMatchObject({ tool_name: "greet", version: 1 });
  const { tool_call_id: id } = await stack.call("greet", { name: "Ada" }, 0);
  const { commands } = (await step(1)) as { commands: { headers: Record<string, string>; lease: { id: string } }[] };
  env.call = commands[0]?.headers["CG-Tool-Call-Id"] ?? "";
  env.lease = commands[0]?.lease.id ?? "";
  env.child = (commands[0]?.headers.traceparent ?? "").replace(/-[0-9a-f]{16}-/, "-b7ad6b7169203332-");
  expect(env.call).toBe(id);
  expect(await step(2)).toMatchObject({ type: "tool.call", tool_call_id: id, content: { arguments: { name: "Ada" } } });
  expect(await step(3)).toMatchObject({ cancel: false });
  expect(await step(4)).toMatchObject({ status: "success", idempotent: false });
  expect(await step(4)).toMatchObject({ status: "success", idempotent: true });
  // The exchange says the same result once more, and a heartbeat for a call that is not held: each item is answered by itself.
  env.other = "0198f2c1a0b07c3e8d5f6a7b8c9d0e1f";
  expect(await step(5)).toMatchObject({
    results: [{ tool_call_id: id, status: "success", idempotent: true }],
    heartbeats: [{ tool_call_id: env.other, error: { code: "not_found" } }],
  });
  expect(await stack.api("GET", `/projects/demo/calls/${String(id)}`)).toMatchObject({
    result: { greeting: "Hello!" },
  });
});

test("[REPO-guides] the commands of operate.md do what they say", async () => {
  await stack.call("echo", { text: "to look at" });
  const guide = readBlocks(readFileSync(join(ROOT, "docs/guides/operate.md"), "utf8"));
  const lines = guide.filter(({ kind }) => kind === "sh").flatMap(({ text }) => text.split("\n"));
  expect(lines.length).toBeGreaterThan(6);
  const ends = await Promise.all(
    lines.map(async (line) => {
      const command = line.replace(/^toolplane /, "");
      const argv = [...command.matchAll(/"([^"]*)"|[^\s"]+/g)].map(([whole, quoted]) => quoted ?? whole);
      return [line, (await stack.run(argv)).code];
    }),
  );
  expect(ends).toEqual(lines.map((line) => [line, 0]));
});

test("[REPO-guides] the loop of own-agent-loop.md runs as it is written, with a model that asks for one tool", async () => {
  const directory = mkdtempSync(join(tmpdir(), "toolplane-loop-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
  const [loop] = readBlocks(readFileSync(join(ROOT, "docs/guides/own-agent-loop.md"), "utf8"));
  const model = `
const messages = [];
const askModel = async (said, tools) => {
  if (said.length > 0) return { role: "assistant", content: "done" };
  const { name } = tools.map((tool) => tool.function).find((tool) => tool.name === "echo");
  return { role: "assistant", tool_calls: [{ id: "call_1", function: { name, arguments: '{"text":"hi"}' } }] };
};`;
  const [first, ...rest] = (loop?.text ?? "").split("\n\n");
  const program = [first, model, ...rest, "console.log(JSON.stringify(messages));"].join("\n");
  writeFileSync(join(directory, "loop.ts"), program);
  const env = { TOOLPLANE_URL: stack.url, TOOLPLANE_TOKEN: stack.token };
  const argv = [process.execPath, "--conditions=source", "loop.ts"];
  const { code, out, err } = await runProgram(argv, { cwd: directory, env });
  expect([code, err]).toEqual([0, expect.not.stringContaining("Error")]);
  expect(JSON.parse(out)).toMatchObject([
    { tool_calls: [{ id: "call_1" }] },
    { role: "tool", tool_call_id: "call_1", content: '{"text":"hi"}' },
    { content: "done" },
  ]);
});
