import { describe, expect, test } from "vitest";
import { createFakeTerminal, type FakeAnswer, refused, reset } from "../../../test/cli/fake-terminal.ts";

const ID = "tc_0198f2c1a0b07c3e8d5f6a7b8c9d0e1f";
const call = (status: string, more: object = {}): FakeAnswer => ({ body: { tool_call_id: ID, status, ...more } });
const done = call("success", { result: { words: 2 } });

const script = (...answers: readonly FakeAnswer[]) => {
  const left = [...answers];
  return () => left.shift() ?? call("running");
};

describe("toolplane call", () => {
  test("[API-2-4] success: the result as JSON on stdout, exit code 0", async () => {
    const terminal = createFakeTerminal({ answer: script(call("queued"), done) });
    expect(await terminal.run("call", "word_count", '{"text":"a b"}')).toBe(0);
    expect([JSON.parse(terminal.out()), terminal.err()]).toEqual([{ words: 2 }, ""]);
    const [made, asked] = terminal.requests;
    expect([made?.method, made?.url]).toEqual(["POST", "http://127.0.0.1:7420/projects/demo/calls"]);
    expect(JSON.parse(String(made?.body))).toEqual({
      tool_name: "word_count",
      arguments: { text: "a b" },
      idempotency_key: "cli-00000000-0000-4000-8000-000000000000",
      wait_seconds: 0,
    });
    expect(asked?.url).toBe(`http://127.0.0.1:7420/projects/demo/calls/${ID}?wait_seconds=10`);
  });

  test("[API-2-4] failure: the error in one line on stderr, exit code 1", async () => {
    const error = { code: "tool_error", message: "no such\nthing" };
    const terminal = createFakeTerminal({ answer: script(call("failed", { error, result: {} })) });
    expect(await terminal.run("call", "fail")).toBe(1);
    expect(terminal.out()).toBe("");
    expect(terminal.err()).toBe(
      `toolplane: tool_error: no such thing; correct the arguments, or see the cause with: toolplane calls show ${ID}\n`,
    );
  });

  test("a partial result is printed and is not a success", async () => {
    const terminal = createFakeTerminal({
      answer: script(call("partial", { result: [1], error: { code: "own", message: "half" } })),
    });
    expect(await terminal.run("call", "half")).toBe(1);
    expect(JSON.parse(terminal.out())).toEqual([1]);
  });

  test("[API-2-4] still running at the end of the wait: exit code 3 and how to see it", async () => {
    const terminal = createFakeTerminal({ answer: () => call("running") });
    expect(await terminal.run("call", "sleep", "--wait", "0")).toBe(3);
    expect(terminal.out()).toBe("");
    expect(terminal.err()).toContain(`call ${ID} is still running; to see it`);
  });

  test("[API-2-K9] Ctrl-C ends the wait, not the call, and says how to see it", async () => {
    const terminal = createFakeTerminal({
      answer: (method) => ({ ...call("running"), before: () => void (method === "GET" && terminal.interrupt()) }),
    });
    expect(await terminal.run("call", "sleep", "--wait", "1h")).toBe(3);
    expect(terminal.err()).toBe(
      `call ${ID} goes on without you; to see it, to ask why or to stop it, give this id to: toolplane calls show, toolplane why, toolplane calls cancel\n`,
    );
    expect(terminal.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  test("[API-2-K9] Ctrl-C while the call is made still says which call goes on", async () => {
    const terminal = createFakeTerminal({
      answer: (method) => ({ ...call("running"), before: () => void (method === "POST" && terminal.interrupt()) }),
    });
    // The moment for which the answer is waited for does not pass.
    Object.assign(terminal.io, { sleep: () => new Promise<void>(() => {}) });
    expect(await terminal.run("call", "sleep", "--wait", "1h")).toBe(3);
    expect(terminal.err()).toContain(`call ${ID} goes on without you; to see it`);
  });

  test("[API-2-K10] a server that goes away during the wait is waited for", async () => {
    const away = { fail: reset() };
    const starting = { status: 503, body: { error: { code: "storage_error", message: "starting" } } };
    const terminal = createFakeTerminal({ answer: script(call("running"), away, { fail: refused() }, starting, done) });
    expect(await terminal.run("call", "sleep")).toBe(0);
    expect(terminal.err()).toBe(
      `the server at http://127.0.0.1:7420 is away; call ${ID} is written down, waiting for it\n`,
    );
  });

  const limited = (seconds: number): FakeAnswer => ({
    status: 503,
    body: {
      error: {
        code: "breaker_open",
        message: "search failed too often",
        detail: { retry_after_seconds: seconds },
        retryable: true,
      },
    },
  });

  test("[LIM-door-5] a call that a limit refuses says when to come back; with --wait it is waited out, with the same key", async () => {
    const refusing = createFakeTerminal({ answer: () => limited(45) });
    expect(await refusing.run("call", "search")).toBe(1);
    expect(refusing.err()).toBe("toolplane: breaker_open: search failed too often; try again in 45 s\n");
    expect(refusing.requests).toHaveLength(1);
    const patient = createFakeTerminal({ answer: script(limited(45), done) });
    expect(await patient.run("call", "search", "--wait", "5m")).toBe(0);
    expect(patient.err()).toBe("search failed too often; waiting 45 s for it\n");
    const [first, second] = patient.requests.map(({ body }) => JSON.parse(String(body)) as object);
    expect(second).toEqual(first);
    const hurried = createFakeTerminal({ answer: () => limited(45) });
    expect(await hurried.run("call", "search", "--wait", "30s")).toBe(1);
    expect(hurried.err()).toContain("try again in 45 s");
  });

  test("[LIM-door-5] a limit that holds for longer than --wait ends the command at once, also within the time of a hand-over", async () => {
    const terminal = createFakeTerminal({ answer: () => limited(3) });
    expect(await terminal.run("call", "search", "--wait", "1s")).toBe(1);
    expect(terminal.err()).toBe("toolplane: breaker_open: search failed too often; try again in 3 s\n");
    expect(terminal.requests).toHaveLength(1);
    const patient = createFakeTerminal({ answer: script(limited(3), done) });
    expect(await patient.run("call", "search", "--wait", "4s")).toBe(0);
    expect(patient.err()).toBe("search failed too often; waiting 3 s for it\n");
  });

  test("[SEE-15] with --wait a server that is not back yet is waited for, with the same key", async () => {
    const terminal = createFakeTerminal({ answer: script({ fail: refused() }, { fail: refused() }, done) });
    expect(await terminal.run("call", "echo", "--wait", "30s")).toBe(0);
    expect(terminal.err()).toBe(
      "the server at http://127.0.0.1:7420 is away; nothing is written down yet, waiting for it\n",
    );
    expect(new Set(terminal.requests.map(({ body }) => String(body)))).toHaveLength(1);
  });

  test("[SEE-15] without --wait it says at once what to do, and how to wait for a server that restarts", async () => {
    const terminal = createFakeTerminal({ answer: () => ({ fail: refused() }) });
    expect(await terminal.run("call", "echo")).toBe(1);
    expect(terminal.err()).toContain(
      "start it with: toolplane up (or name another one with --url); if it restarts, --wait 30s makes this command wait for it",
    );
  });

  test("[API-2-K11] a request whose answer was lost is sent again with the same key", async () => {
    const terminal = createFakeTerminal({ answer: script({ fail: reset() }, { fail: refused() }, done) });
    expect(await terminal.run("call", "echo")).toBe(0);
    const keys = terminal.requests.map(
      ({ body }) => (JSON.parse(String(body)) as { idempotency_key: string }).idempotency_key,
    );
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  });

  test("[API-2-K11] a request whose answer was lost is asked for with the same key until the wait is over", async () => {
    const away = Array.from({ length: 30 }, () => ({ fail: refused() }));
    const back = createFakeTerminal({ answer: script({ fail: reset() }, ...away, done) });
    expect(await back.run("call", "echo", "--wait", "5m", "--key", "k")).toBe(0);
    const gone = createFakeTerminal({ answer: script({ fail: reset() }, ...away) });
    expect(await gone.run("call", "echo", "--key", "k")).toBe(1);
    expect(gone.err()).toMatch(
      /^toolplane: outcome_unknown: the call was sent and not answered: it may have been made/,
    );
    expect(gone.err()).toContain("call again with the key k");
    const forgotten = createFakeTerminal({ answer: script({ fail: reset() }, ...away, ...away, ...away) });
    expect(await forgotten.run("call", "echo", "--wait", "40s")).toBe(1);
    expect(forgotten.err()).toContain("toolplane: outcome_unknown: the call was sent and not answered");
  });

  test("[API-2-K12] a server that is not there is told at once, with how to start it", async () => {
    const terminal = createFakeTerminal({ answer: () => ({ fail: refused() }) });
    expect(await terminal.run("call", "echo")).toBe(1);
    expect(terminal.requests).toHaveLength(1);
    expect(terminal.err()).toContain("start it with: toolplane up");
  });

  test.each([
    ["inline", ["{oops"], "the arguments are not JSON"],
    ["a number", ['{"a":[1e400]}'], "the arguments have a number that is too large: write it as a text"],
    ["stdin", ["-"], "the arguments in stdin are not JSON"],
    ["a file", ["@bad.json"], "the arguments in bad.json are not JSON"],
    [
      "a text",
      ['"x"'],
      'the arguments are a text: write an object with a member for each argument, such as {"text": "hello"}',
    ],
    ["a list", ["[1]"], "the arguments are a list: write an object"],
    ["null", ["null"], "the arguments are null: write an object"],
    ["a member twice", ['{"a":1,"a":2}'], "the arguments: the JSON names a member of an object twice: send it once"],
    ["a file that is not there", ["@none.json"], "cannot read none.json: it does not exist"],
  ])("[API-2-K13] what is no JSON object (%s) is wrong usage and sends nothing", async (_, argv, message) => {
    const terminal = createFakeTerminal({ stdin: "[1,", files: { "/somewhere/bad.json": "nope" } });
    expect(await terminal.run("call", "echo", ...argv)).toBe(2);
    expect(terminal.err()).toContain(message);
    expect(terminal.requests).toEqual([]);
  });

  test.each([
    ["@file", ["@args.json"], { from: "file" }],
    ["-", ["-"], { from: "stdin" }],
    ["nothing", [], {}],
  ])("arguments from %s", async (_, argv, expected) => {
    const files = { "/somewhere/args.json": '{"from":"file"}' };
    const terminal = createFakeTerminal({ answer: () => done, stdin: '{"from":"stdin"}', files });
    expect(await terminal.run("call", "echo", ...argv)).toBe(0);
    expect((JSON.parse(String(terminal.requests[0]?.body)) as { arguments: unknown }).arguments).toEqual(expected);
  });

  test("--agent, --key and --at are sent; a call for later is not waited for", async () => {
    const terminal = createFakeTerminal({ answer: () => call("queued") });
    expect(
      await terminal.run("call", "echo", "--agent", "helper", "--key", "k", "--at", "+10m", "--project", "p"),
    ).toBe(3);
    expect(JSON.parse(String(terminal.requests[0]?.body))).toMatchObject({
      agent_id: "helper",
      idempotency_key: "k",
      not_before: "2030-01-01T00:10:00.000Z",
    });
    expect(terminal.requests).toHaveLength(1);
  });

  test("[API-2-13] --json prints the whole answer on one line, whatever it is", async () => {
    const terminal = createFakeTerminal({ answer: () => done });
    await terminal.run("call", "echo", "--json");
    expect(terminal.out()).toBe(`{"tool_call_id":"${ID}","status":"success","result":{"words":2}}\n`);
  });
});
