// docs/guides/nats.md, "A service that only knows NATS": every command as it is written, one after the other, in one shell's
// variables, against a real plane on a real nats-server; and what the guide shows is what was said.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNats, type TestNats } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram, startProgram } from "../cli/program.ts";
import { ROOT, type Stack, startStack, TOOLPLANE } from "../cli/stack.ts";
import { requirePython } from "./programs.ts";
import { type Block, readBlocks, sectionOf } from "./readme.ts";

const section = sectionOf(readFileSync(join(ROOT, "docs/guides/nats.md"), "utf8"), "A service that only knows NATS");
const blocks = readBlocks(section);
const EXAMPLE = join(ROOT, "examples/nats-python");

/** What differs from one run to the next. */
const mask = (line: string): string =>
  line
    .replace(/_INBOX\.[A-Za-z0-9.]+/g, "<inbox>")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replace(/[0-9a-f]{16,}|\d{10,}/g, "<id>")
    .replace(/-\d+$/, "-<n>")
    .trimEnd();

/** Whether one shown line is the said one; ` ... ` stands for anything in between. */
const isLine = (shown: string, said: string): boolean => {
  const [first = "", ...pieces] = mask(shown).split(/ ?\.\.\. ?/);
  let rest = mask(said);
  if (!rest.startsWith(first)) return false;
  rest = rest.slice(first.length);
  for (const piece of pieces) {
    const at = rest.indexOf(piece);
    if (at < 0) return false;
    rest = rest.slice(at + piece.length);
  }
  return pieces.length > 0 || rest === "";
};

/** Whether the lines were said, in this order; a line of three dots stands for any lines. */
const isShown = ([first, ...shown]: readonly string[], said: readonly string[]): boolean => {
  if (first === undefined) return said.every((line) => line === "");
  if (first === "...") return shown.length === 0 || said.some((_, from) => isShown(shown, said.slice(from)));
  return isLine(first, said[0] ?? "") && isShown(shown, said.slice(1));
};

let nats: TestNats;
let stack: Stack;
let bin: string;
const shell: Record<string, string> = {};

beforeAll(async () => {
  requirePython();
  nats = await startNats();
  stack = await startStack({ TOOLPLANE_NATS_URL: nats.url, TOOLPLANE_LEASE_SECONDS: "60" });
  bin = mkdtempSync(join(tmpdir(), "toolplane-bin-"));
  const quoted = TOOLPLANE.map((word) => `'${word}'`).join(" ");
  writeFileSync(join(bin, "toolplane"), `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 });
  Object.assign(shell, {
    PATH: `${bin}:${process.env.PATH ?? ""}`,
    TOOLPLANE_URL: stack.url,
    TOOLPLANE_TOKEN: stack.token,
    NATS_URL: nats.url,
  });
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  await nats.stop();
  rmSync(bin, { recursive: true, force: true });
});

const run = (text: string) => runProgram(["sh", "-c", text], { cwd: EXAMPLE, env: shell });

/** As a person copies it from what was shown. */
const keep = (name: string, said: string, pattern: RegExp): void => {
  const value = pattern.exec(said)?.[1];
  expect(value, `${name} in ${said}`).toBeDefined();
  shell[name] = value ?? "";
};

const keepCommand = (said: string): void => {
  keep("call", said, /^CG-Tool-Call-Id: (\S+)$/m);
  keep("turn", said, /^CG-Turn-Id: (\S+)$/m);
  keep("card", said, /"tool_call_card_id":"([^"]+)"/);
};

const blockAfter = (start: string): Block | undefined =>
  blocks[blocks.findIndex(({ text }) => text.startsWith(start)) + 1];

/** Runs the block that begins so; what is shown below it must be what it said. */
const step = async (start: string): Promise<string> => {
  const block = blocks.find(({ kind, text }) => kind === "sh" && text.startsWith(start));
  const { code, out, err } = await run(block?.text ?? "false");
  expect([0, 3], err).toContain(code);
  const below = blockAfter(start);
  if (below?.kind === "text")
    expect(isShown(below.text.split("\n"), out.trimEnd().split("\n")), `${below.text}\nis not\n${out}`).toBe(true);
  return out;
};

test("[NATSPY-6] the steps of the guide, typed one after the other, settle a call by hand", async () => {
  await step("toolplane tools apply");
  const sub = blocks.find(({ kind }) => kind === "sh listen")?.text ?? "";
  await using listening = await startProgram(["sh", "-c", `exec ${sub}`], { cwd: EXAMPLE, env: shell });
  await listening.until("Subscribing", (_, err) => (err.includes("Subscribing on") ? true : undefined));
  await step("toolplane call count_letters");
  const heard = await listening.until("the command", (out) => (out.includes("tool_name") ? out : undefined));
  const shown = blocks.find(({ kind }) => kind === "text heard")?.text ?? "";
  expect(isShown(shown.split("\n"), heard.trimEnd().split("\n")), heard).toBe(true);

  await step("python3 nats_cli.py req cg.v1r4.demo.public.rpc.gateway.letters.attach");
  const fetched = await step("python3 nats_cli.py next");
  const kept = blocks.find(({ kind }) => kind === "sh keep")?.text ?? "";
  keep("gateway", kept, /gateway=(\S+)/);
  keepCommand(fetched);
  keep("ack", fetched, /with reply "([^"]+)"/);
  keep("lease", await step("python3 nats_cli.py req $gateway.lease"), /"lease":\{"id":"([^"]+)"/);
  await step("python3 nats_cli.py pub");
  await step("python3 nats_cli.py req $gateway.heartbeat");
  await step("python3 nats_cli.py req $gateway.settle");
  await step("toolplane calls show");
});

test("[NATSPY-6] and so do the three questions of a plain service", async () => {
  await stack.api("POST", "/projects/demo/tools", {
    tool_name: "by_hand",
    description: "Whatever a person answers",
    target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.by_hand.answer",
    after_execution: "suspend",
    parameters: { type: "object", properties: {} },
    options: { service: "plain" },
  });
  shell.gateway = "cg.v1r4.demo.public.rpc.gateway.by_hand";
  const listen = ["python3", "nats_cli.py", "sub", "--count", "1", "cg.v1r4.demo.*.cmd.tool.by_hand.>"];
  await using listening = await startProgram(listen, { cwd: EXAMPLE, env: shell });
  await listening.until("Subscribing", (_, err) => (err.includes("Subscribing on") ? true : undefined));
  await stack.call("by_hand", {}, 0);
  keepCommand(await listening.until("the command", (out) => (out.includes("tool_name") ? out : undefined)));

  const read = await run(`python3 nats_cli.py req $gateway.get_card '{}' -H "CG-Tool-Call-Id: $call"`);
  const card = JSON.parse(read.out.split("\n\n")[1] ?? "{}") as { metadata: Record<string, string> };
  const { step_id, trace_id } = card.metadata;
  shell.result = "0198f2c1a0b07c3e8d5f6a7b8c9d0e20";
  shell.result_card = JSON.stringify({
    card_id: shell.result,
    project_id: "demo",
    type: "tool.result",
    content: { __type__: "ToolResultContent", status: "success", after_execution: "suspend", result: 5, error: null },
    created_at: "2026-01-02T03:04:06.012Z",
    author_id: "tool.by_hand",
    metadata: {
      step_id,
      trace_id,
      agent_turn_id: shell.turn,
      tool_call_id: shell.call,
      function_name: "by_hand",
      role: "tool",
    },
    tool_call_id: shell.call,
  });
  await step("python3 nats_cli.py req $gateway.get_card");
  expect(await stack.api("GET", `/projects/demo/calls/${shell.call}`)).toMatchObject({ status: "success", result: 5 });
});

test("the definition beside the program is the program's own", async () => {
  const service = readFileSync(join(EXAMPLE, "service.py"), "utf8");
  for (const flag of section.matchAll(/service\.py (--[a-z-]+)/g)) expect(service).toContain(`"${flag[1]}"`);
  const program = ["python3", "-c", "import json, service; print(json.dumps(service.definition('letters', False)))"];
  const { out } = await runProgram(program, { cwd: EXAMPLE });
  expect(await stack.api("POST", "/projects/demo/tools", JSON.parse(out))).toMatchObject({ outcome: "unchanged" });
});
