// `toolplane call`, `calls`, `why` and `dead` against a real server.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Stack, startStack } from "./stack.ts";

const ID = "[0-9a-f]{32}";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
});

const lines = (text: string): readonly string[] => text.split("\n").slice(0, -1);

describe("toolplane call", () => {
  test("[API-2-4] prints the result as JSON and exits 0", async () => {
    const { code, out, err } = await stack.program(["call", "word_count", '{"text":"to be or not to be"}']);
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toMatchObject({ total: 6, distinct: 4 });
  });

  test.each([
    ["stdin", ["-"], '{"from":"stdin"}', { from: "stdin" }],
    ["a file", ["@args.json"], undefined, { from: "a file" }],
    ["nothing", [], undefined, {}],
  ])("takes its arguments from %s", async (_, args, stdin, expected) => {
    writeFileSync(join(stack.directory, "args.json"), '{"from":"a file"}');
    const { code, out } = await stack.program(["call", "echo", ...args], stdin === undefined ? {} : { stdin });
    expect([code, JSON.parse(out)]).toEqual([0, expected]);
  });

  test("[API-2-4] a failed call exits 1 with the tool's own code in one line", async () => {
    const { code, out, err } = await stack.run(["call", "fail", '{"code":"own_code","message":"not\\ntoday"}']);
    expect([code, out]).toEqual([1, ""]);
    expect(lines(err)).toHaveLength(1);
    expect(err).toMatch(new RegExp(`^toolplane: own_code: not today; see the cause with: toolplane calls show ${ID}`));
  });

  test("[API-2-cause] a failed call says how to see its cause, and calls show has it, line by line", async () => {
    const { err } = await stack.run(["call", "fail", '{"code":"internal_error","message":"it \\u001b[31mbroke"}']);
    const [, id] = err.match(new RegExp(`see the cause with: toolplane calls show (${ID})$`, "m")) ?? [];
    const { out } = await stack.run(["calls", "show", id ?? ""]);
    expect(out).toMatch(
      /\ncause\n {2}tried 3 times in this attempt; the last failure:\n {2}ToolError: it \\u001b\[31mbroke\n {6}at /,
    );
    expect(out).not.toContain("\u001b");
  });

  test("[SEE-13] a mistyped tool is answered with the one that was probably meant, for people and for programs", async () => {
    const { code, err } = await stack.run(["call", "ehco"]);
    expect([code, err]).toEqual([1, expect.stringContaining("project demo has no tool ehco; did you mean echo?")]);
    const asked = await stack.api("POST", "/projects/demo/calls", { tool_name: "ehco" });
    expect(asked.error).toMatchObject({ code: "not_found", detail: { did_you_mean: "echo" } });
  });

  test("[SEE-12] last is the newest call for its trace and its result's card too, with one duration everywhere", async () => {
    await stack.run(["call", "echo", '{"n":"newest"}']);
    const shown = (await stack.run(["calls", "show", "last"])).out;
    const [, took] = shown.match(/^took +(\S+ s) from asked to settled, of which it waited \S+ s$/m) ?? [];
    expect((await stack.run(["calls", "list", "--limit", "1"])).out).toContain(` ${took ?? "?"}`);
    expect((await stack.run(["trace", "last"])).out).toMatch(
      new RegExp(`^echo {2}success in ${took ?? "?"} {2}call `, "m"),
    );
    expect((await stack.run(["cards", "show", "last"])).out).toMatch(/^type +tool\.result$/m);
  });

  test("[SEE-14] services are listed with when they were last heard, and as gone when they went", async () => {
    const token = await stack.toolToken("brief");
    const asked = new AbortController();
    const url = `${stack.url}/projects/demo/tool-services/brief/claim`;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const poll = fetch(url, { method: "POST", headers, body: '{"wait_seconds":60}', signal: asked.signal });
    const services = async (): Promise<string> => (await stack.run(["services"])).out;
    await until("the service to be here", async () => /^brief .* here +\S+ s ago$/m.test(await services()));
    asked.abort();
    await poll.catch(() => undefined);
    await until("the service to be gone", async () => /^brief .* gone +\S+ s ago$/m.test(await services()));
  });

  test("[API-2-4] a call that still runs exits 3 and says how to see, ask and stop", async () => {
    const { code, out, err } = await stack.run(["call", "sleep", '{"seconds":600}', "--wait", "200ms"]);
    expect([code, out]).toEqual([3, ""]);
    const [, id] = err.match(new RegExp(`^call (${ID}) is still (?:queued|running); to see it, `)) ?? [];
    expect(id).toBeDefined();
    expect((await stack.run(["calls", "cancel", id ?? ""])).code).toBe(0);
  });

  test("[API-2-K9] Ctrl-C ends the wait; the call goes on and finishes", async () => {
    await using waiting = await stack.start(["call", "sleep", '{"seconds":5}', "--wait", "1h", "--key", "interrupted"]);
    // Asked without a program for each look: on a busy machine one takes longer than the call.
    let id = "";
    await until("the call to run", async () => {
      const { items } = await stack.api("GET", "/projects/demo/calls?status=running&tool_name=sleep");
      id = (items as readonly { readonly tool_call_id: string }[])[0]?.tool_call_id ?? "";
      return id !== "";
    });
    waiting.signal("SIGINT");
    expect(await waiting.ended).toEqual({ code: 3, signal: null });
    expect(waiting.err()).toContain(`call ${id} goes on without you; to see it`);
    expect(await stack.json("calls", "show", id, "--wait", "60s")).toMatchObject({
      status: "success",
      idempotency_key: "interrupted",
    });
  });

  test("[API-2-K14] the same key is the same call; the same key with other arguments is refused", async () => {
    const first = await stack.json("call", "echo", '{"a":1}', "--key", "k1");
    expect((await stack.json("call", "echo", '{"a":1}', "--key", "k1")).tool_call_id).toBe(first.tool_call_id);
    const { code, err } = await stack.run(["call", "echo", '{"a":2}', "--key", "k1"]);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^toolplane: idempotency_conflict: .*; use another --key, or the arguments of the first call\n$/,
    );
  });

  test("--at makes a call for later: exit 3, and why says when", async () => {
    const { code, out } = await stack.run(["call", "echo", "{}", "--at", "+1h", "--json"]);
    expect(code).toBe(3);
    const { tool_call_id: id } = JSON.parse(out) as { tool_call_id: string };
    expect((await stack.json("why", id)).why).toMatch(/^it is for later: it is offered at /);
    await stack.run(["calls", "cancel", id]);
  });

  test.each([
    ["an unknown tool", ["call", "nope"], 1, /^toolplane: not_found: project demo has no tool nope; /],
    ["an unknown project", ["call", "echo", "--project", "nowhere"], 1, /^toolplane: not_found: /],
    [
      "arguments that are not an object",
      ["call", "echo", "[1]"],
      2,
      /^toolplane: usage: the arguments are a list: write an object/,
    ],
    [
      "arguments that break the schema",
      ["call", "sleep", '{"seconds":"long"}'],
      1,
      /^toolplane: bad_request: .*seconds/,
    ],
    ["an agent that does not exist", ["call", "echo", "--agent", "nobody"], 1, /^toolplane: [a-z_]+: /],
    ["bad JSON", ["call", "echo", "{oops"], 2, /^toolplane: usage: the arguments are not JSON: /],
    ["a bad wait", ["call", "echo", "--wait", "soon"], 2, /^toolplane: usage: --wait takes a duration/],
    ["a bad time", ["call", "echo", "--at", "soon"], 2, /^toolplane: usage: --at takes a time/],
    [
      "a file that is not there",
      ["call", "echo", "@none.json"],
      2,
      /^toolplane: usage: cannot read none\.json: it does not exist/,
    ],
  ])("[API-2-14] %s is one line on stderr", async (_, args, expected, line) => {
    const { code, out, err } = await stack.run(args);
    expect([code, out, lines(err).length]).toEqual([expected, "", 1]);
    expect(err).toMatch(line);
  });
});

describe("toolplane calls and why", () => {
  test("[API-2-7] why says who runs a call; cancel really stops it; retry makes a new one", async () => {
    const { tool_call_id: id } = await stack.json("call", "sleep", '{"seconds":300}', "--wait", "0");
    while ((await stack.json("why", String(id))).status === "queued");
    const why = await stack.run(["why", String(id)]);
    expect(why.out).toMatch(
      new RegExp(`^call ${String(id)} is running: bundled tools .* runs it, with a lease until `),
    );
    expect(lines((await stack.run(["calls", "cancel", String(id), "--reason", "enough"])).out)).toEqual([
      `canceled ${String(id)}`,
    ]);
    const shown = await stack.run(["calls", "show", String(id)]);
    expect(shown.out).toMatch(/^status {2,}canceled$/m);
    expect(shown.out).toContain("error        canceled: enough");
    expect((await stack.run(["calls", "cancel", String(id)])).out).toBe(
      `call ${String(id)} was over before: canceled\n`,
    );
    expect((await stack.run(["why", String(id)])).out).toContain(
      `what to do: make it again with: toolplane calls retry ${String(id)}`,
    );
    const again = await stack.json("calls", "retry", String(id));
    expect(again).toMatchObject({ retry_of: id });
    expect(again.tool_call_id).not.toBe(id);
    expect(await stack.json("calls", "show", String(again.tool_call_id))).toMatchObject({
      retry_of: id,
      tool_name: "sleep",
    });
    await stack.run(["calls", "cancel", String(again.tool_call_id)]);
  });

  test("[LIM-plane-2] cancel with --all ends the calls that wait, of one tool or of all", async () => {
    const later = (tool: string) =>
      stack.json(
        "call",
        tool,
        tool === "sleep" ? '{"seconds":1}' : "{}",
        "--at",
        "+1h",
        "--wait",
        "0",
        "--project",
        "demo",
      );
    const calls = [await later("echo"), await later("echo"), await later("sleep")];
    const cancel = async (...more: string[]) => (await stack.run(["calls", "cancel", ...more])).out;
    expect(await cancel("--all", "--tool", "echo", "--reason", "a flood")).toBe("canceled 2 calls of project demo\n");
    expect((await stack.run(["calls", "show", String(calls[0]?.tool_call_id)])).out).toContain("canceled: a flood");
    expect(await cancel("--all")).toBe("canceled 1 call of project demo\n");
    for (const wrong of [[], ["last", "--all"], ["last", "--tool", "echo"]])
      expect((await stack.run(["calls", "cancel", ...wrong])).code).toBe(2);
  });

  test("[API-2-6] retry with a wait prints the new call's result; the old call stays as it was", async () => {
    const old = await stack.json("call", "echo", '{"x":1}');
    const { code, out } = await stack.run(["calls", "retry", String(old.tool_call_id), "--wait", "30s"]);
    expect([code, JSON.parse(out)]).toEqual([0, { x: 1 }]);
    expect(await stack.json("calls", "show", String(old.tool_call_id))).toMatchObject({
      status: "success",
      retry_of: null,
    });
  });

  test("list shows whole ids in aligned columns, filters, and pages", async () => {
    const one = await stack.json("call", "word_count", '{"text":"a"}');
    const two = await stack.json("call", "word_count", '{"text":"b"}');
    const { out } = await stack.run(["calls", "list", "--tool", "word_count", "--limit", "2"]);
    const [title, first, second] = lines(out);
    expect(title).toMatch(/^CALL {30}STATUS {3}TOOL {8}AGENT/);
    expect([first, second].map((line) => line?.slice(0, 32))).toEqual([two.tool_call_id, one.tool_call_id]);
    const page = await stack.json("calls", "list", "--tool", "word_count", "--limit", "1");
    expect(page.items).toMatchObject([{ tool_call_id: two.tool_call_id }]);
    const next = await stack.json(
      "calls",
      "list",
      "--tool",
      "word_count",
      "--limit",
      "1",
      "--cursor",
      String(page.next_cursor),
    );
    expect(next.items).toMatchObject([{ tool_call_id: one.tool_call_id }]);
    const idsOf = async (...filter: readonly string[]): Promise<unknown> =>
      ((await stack.json("calls", "list", ...filter)).items as readonly { readonly tool_call_id: string }[]).map(
        ({ tool_call_id }) => tool_call_id,
      );
    expect(await idsOf("--trace", String(two.trace_id))).toEqual([two.tool_call_id]);
    expect(await idsOf("--since", "1h", "--target", "bundled", "--limit", "1")).toEqual([two.tool_call_id]);
    expect(await idsOf("--until", "1h")).toEqual([]);
    expect(await idsOf("--agent", "helper", "--error", "tool_timeout")).toEqual([]);
  });

  test("[API-2-K15] last is the newest call of the project", async () => {
    const newest = await stack.json("call", "echo", '{"newest":true}');
    expect(await stack.json("calls", "show", "last")).toMatchObject({ tool_call_id: newest.tool_call_id });
    const empty = await stack.json("projects", "create", "empty");
    const { code, err } = await stack.run(["why", "last", "--project", String(empty.project_id)]);
    expect([code, err]).toEqual([
      1,
      "toolplane: not_found: project empty has no calls yet; check the name and --project\n",
    ]);
  });

  test.each([
    [["calls", "show", "nope"], /^toolplane: not_found: /],
    [["calls", "cancel", "nope"], /^toolplane: not_found: /],
    [["calls", "retry", "nope"], /^toolplane: not_found: /],
    [["why", "nope"], /^toolplane: not_found: /],
    [["trace", "nope"], /^toolplane: not_found: project \S+ has no call, turn or trace with the id nope; /],
    [["trace", "turn_nope"], /^toolplane: not_found: there is no turn turn_nope in this project; /],
    [["calls", "list", "--agent", ""], /^toolplane: bad_request: .*agent_id/],
    [["calls", "list", "--trace", "nope"], /^toolplane: bad_request: .*trace_id: is 32 hexadecimal digits/],
    [
      ["calls", "list", "--cursor", "nonsense"],
      /^toolplane: bad_request: cursor does not come from this list; use next_cursor of the page before; /,
    ],
    [["dead", "show", "nope"], /^toolplane: not_found: /],
    [["dead", "replay", "nope"], /^toolplane: not_found: /],
  ])("[API-2-14] %j is one line on stderr and exit 1", async (args, line) => {
    const { code, out, err } = await stack.run(args);
    expect([code, out, lines(err).length]).toEqual([1, "", 1]);
    expect(err).toMatch(line);
  });
});

describe("toolplane dead", () => {
  test("[API-2-K16] what nobody ran in time is listed, shown, and replayed once however often it is asked for", async () => {
    const yaml = [
      "tool_name: unserved",
      "target_subject: cg.v1r4.{project_id}.{channel_id}.cmd.tool.nobody.unserved",
      "after_execution: suspend",
      "options: { queue_timeout_seconds: 0.2 }",
    ];
    expect((await stack.run(["tools", "apply", "-"], { stdin: yaml.join("\n") })).out).toBe(
      "created unserved version 1\n",
    );
    const { code, err } = await stack.run(["call", "unserved"]);
    expect(code).toBe(1);
    expect(err).toMatch(/^toolplane: queue_timeout: /);
    const { items } = (await stack.json("dead", "list")) as {
      items: { dead_letter_id: string; tool_call_id: string }[];
    };
    const [letter] = items;
    expect(letter).toMatchObject({ code: "queue_timeout", kind: "call", replayed_as: null });
    const id = letter?.dead_letter_id ?? "";
    expect((await stack.run(["dead", "list"])).out).toMatch(new RegExp(`^${id} +call +queue_timeout`, "m"));
    expect((await stack.run(["dead", "show", id])).out).toMatch(new RegExp(`^call +${letter?.tool_call_id}$`, "m"));
    expect((await stack.run(["why", letter?.tool_call_id ?? ""])).out).toContain(
      `replay its dead letter with: toolplane dead replay ${id}`,
    );
    const replayed = await stack.json("dead", "replay", id);
    expect(await stack.json("dead", "replay", id)).toEqual(replayed);
    expect((await stack.run(["dead", "replay", id])).out).toBe(`replayed as ${String(replayed.replayed_as)}\n`);
    expect(await stack.json("calls", "show", String(replayed.replayed_as))).toMatchObject({
      retry_of: letter?.tool_call_id,
    });
  });
});
