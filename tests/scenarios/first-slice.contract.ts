// What a caller sees when things go wrong, with real processes, on either bus. When the variable TRANSCRIPT names a file,
// each scenario writes the commands it ran and their output there.
//   A lease takes some seconds to lapse, so the test kills services in its first scenarios and looks at their calls in the last.

import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BusName, openStack, type Said, type Service, type Stack } from "./stack.ts";

let stack: Stack;
const effects = join(mkdtempSync(join(tmpdir(), "toolplane-effects-")), "effects");
const effectsOf = (name: string): number =>
  readFileSync(effects, "utf8")
    .split("\n")
    .filter((line) => line === name).length;

const transcript = process.env.TRANSCRIPT;
const tell = (text: string): void => {
  if (transcript !== undefined) appendFileSync(transcript, `${text}\n`);
};

/** The command line, told as a person would type it. */
const run = async (...argv: string[]): Promise<Said & { readonly json: () => Record<string, unknown> }> => {
  const said = await stack.cli(...argv);
  const shown = argv.map((word) => (/^[\w./=-]+$/.test(word) ? word : `'${word}'`)).join(" ");
  const short = (text: string): string => (text.length > 600 ? `${text.slice(0, 600)}...\n` : text);
  tell(
    `\`\`\`console\n$ toolplane ${shown}\n${short(said.stdout)}${short(said.stderr)}$ echo $?\n${said.code}\n\`\`\``,
  );
  return { ...said, json: () => JSON.parse(said.stdout) as Record<string, unknown> };
};

const startCall = async (tool: string, n = 1): Promise<string> => {
  const { body } = await stack.api("POST", "/projects/demo/calls", { tool_name: tool, arguments: { n } });
  return (body as { tool_call_id: string }).tool_call_id;
};

/** The calls whose service was killed. */
let doomed: { readonly safe: string; readonly unsafe: string };
/** Serves all others. */
let service: Service;
const serve = (env: Readonly<Record<string, string>> = {}): Promise<Service> =>
  stack.service("odd-tools", { EFFECTS: effects, ...env });

const killOneAtWork = async (): Promise<typeof doomed> => {
  const hanging = await serve({ HANG: "yes" });
  const safe = await startCall("hang_safe");
  const unsafe = await startCall("hang_unsafe");
  await Promise.all([hanging.said("started hang_safe"), hanging.said("started hang_unsafe")]);
  await hanging.kill();
  return { safe, unsafe };
};

export const firstSlice = (bus: BusName): void => {
  beforeAll(async () => {
    writeFileSync(effects, "");
    if (transcript !== undefined) writeFileSync(transcript, "");
    stack = await openStack({ bus });
    doomed = await killOneAtWork();
    service = await serve();
  });
  afterAll(async () => {
    await stack[Symbol.asyncDispose]();
  });

  test("[SLICE-duplicate] the same command twice: one execution, the same call", async () => {
    tell("\n## The same call twice\n");
    const first = await run("call", "once", '{"n":1}', "--key", "order-1", "--json");
    const again = await run("call", "once", '{"n":1}', "--key", "order-1", "--json");
    expect([first.code, again.code]).toEqual([0, 0]);
    expect(again.json().tool_result_card_id).toBe(first.json().tool_result_card_id);
    expect(effectsOf("once 1")).toBe(1);
    const other = await run("call", "once", '{"n":2}', "--key", "order-1");
    expect(other.code).not.toBe(0);
    expect(other.stderr).toMatch(/^toolplane: idempotency_conflict: /);
    expect(effectsOf("once 2")).toBe(0);
  });

  test("[SLICE-concurrent] twenty duplicates at once, two services: one execution", async () => {
    tell("\n## Twenty duplicates at once, two services\n");
    const another = await serve();
    const body = { tool_name: "once", arguments: { n: 77 }, idempotency_key: "order-77", wait_seconds: 30 };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => stack.api("POST", "/projects/demo/calls", body)),
    );
    const ids = new Set(answers.map((answer) => (answer.body as { tool_call_id: string }).tool_call_id));
    const cards = new Set(
      answers.map((answer) => (answer.body as { tool_result_card_id: string }).tool_result_card_id),
    );
    tell(`20 requests: ${ids.size} call, ${cards.size} result card, ${effectsOf("once 77")} execution`);
    await another.stop();
    expect([ids.size, cards.size, effectsOf("once 77")]).toEqual([1, 1, 1]);
  });

  test("[SLICE-cancel] a call canceled in the middle of its run: the tool is told, the caller too", async () => {
    tell("\n## A call canceled in the middle of its run\n");
    const id = await startCall("hang_then_tell");
    await service.said("started hang_then_tell");
    expect((await run("calls", "cancel", id)).code).toBe(0);
    await service.said("aborted hang_then_tell");
    tell("(the tool's signal was aborted)");
    const { body } = await stack.api("GET", `/projects/demo/calls/${id}`);
    expect(body).toMatchObject({ status: "canceled", error: { code: "canceled" } });
    await run("calls", "show", id);
  });

  test("[SLICE-odd-results] too slow, no JSON, 20 MB: each a result the caller can read", async () => {
    tell("\n## A tool slower than its deadline\n");
    const slow = await run("call", "too_slow");
    expect(slow.code).toBe(1);
    expect(slow.stdout + slow.stderr).toContain("tool_timeout");
    tell("\n## A result that is not JSON\n");
    const noJson = await run("call", "no_json");
    expect(noJson.code).toBe(1);
    expect(noJson.stdout + noJson.stderr).toContain("result_not_serializable");
    tell("\n## A result of 20 MB\n");
    const much = await run("call", "too_much");
    expect(much.code).toBe(1);
    expect(much.stdout + much.stderr).toContain("result_too_large");
    expect((much.stdout + much.stderr).length).toBeLessThan(20_000);
  });

  test("[SLICE-poison] ten calls with one poisoned: nine succeed, one says why", async () => {
    tell("\n## Ten calls, one of them poisoned\n");
    const items = Array.from({ length: 10 }, (_, n) => ({ tool_name: "picky", arguments: { n }, wait_seconds: 30 }));
    const { body } = await stack.api("POST", "/projects/demo/calls/batch", items);
    const answers = (body as { items: { status: string; error?: { code: string; message: string } }[] }).items;
    tell(
      answers
        .map(
          ({ status, error }, n) => `${n}: ${status}${error === undefined ? "" : ` (${error.code}: ${error.message})`}`,
        )
        .join("\n"),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: 10 }, (_, n) => (n === 4 ? "failed" : "success")),
    );
    expect(answers[4]?.error?.message).toContain("four is poison");
  });

  test("[SLICE-killed-safe] a service killed in the middle of a safe tool: another one finishes the call", async () => {
    tell("\n## A service killed in the middle of a safe tool\n");
    tell("(the service was killed with SIGKILL)");
    const { body } = await stack.api("GET", `/projects/demo/calls/${doomed.safe}?wait_seconds=60`);
    await run("calls", "show", doomed.safe);
    expect(body).toMatchObject({ status: "success", attempts: 2, result: { finished_by: true } });
  });

  test("[SLICE-killed-unsafe] a service killed in the middle of an unsafe tool: outcome_unknown, never run again", async () => {
    tell("\n## A service killed in the middle of an unsafe tool\n");
    tell("(the service was killed with SIGKILL)");
    const { body } = await stack.api("GET", `/projects/demo/calls/${doomed.unsafe}?wait_seconds=60`);
    const why = await run("why", doomed.unsafe);
    expect(body).toMatchObject({ status: "failed", error: { code: "outcome_unknown" } });
    expect(why.stdout).toContain("outcome_unknown");
    expect(why.stdout).toMatch(/odd@\S+ which was not heard in time/);
    expect(effectsOf("hang_unsafe")).toBe(1);
  });
};
