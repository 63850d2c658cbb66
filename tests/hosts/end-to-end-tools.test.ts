// Hosts of the configuration as tools: called over HTTP, with sessions, parts and views, and nothing that should not pass.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  collectParts,
  type HostStack,
  MUTE_HOST,
  NODE_HOST,
  PATIENT,
  PYTHON_HOST,
  startHostStack,
} from "./end-to-end-stack.ts";

const SECRET = "s3cr3t-value-4711";
let stack: HostStack;
let token: string;

beforeAll(async () => {
  stack = await startHostStack(
    [
      {
        name: "text",
        command: NODE_HOST,
        config: { greeting: "hi" },
        pool: 2,
        env: ["HOST_SECRET"],
        session: "agent",
        retry_safe: ["slow_safe", "count"],
        limits: PATIENT,
      },
      { name: "open", command: NODE_HOST, control: "allow", prefix: "open_", timeout_seconds: 6, limits: PATIENT },
      { name: "data", command: PYTHON_HOST, session: "argument", limits: PATIENT },
      { name: "missing", command: ["no-such-program"] },
      { name: "wrong", command: NODE_HOST, config: { level: "high" }, limits: PATIENT },
      MUTE_HOST,
    ],
    { HOST_SECRET: SECRET, NOT_ALLOWED: "must not be seen" },
  );
  token = readFileSync(join(stack.up.dataDir, "token"), "utf8").trim();
}, 120_000);
afterAll(() => stack?.[Symbol.asyncDispose]());

describe("what is there", () => {
  test("[API-4-H1] GET /hosts names every host, its tools, what was left out, and what is wrong", async () => {
    const hosts = await stack.hosts();
    expect(hosts.map(({ name, state }) => [name, state])).toEqual([
      ["data", "ready"],
      ["missing", expect.stringMatching(/failed|starting/)],
      ["mute", "starting"],
      ["open", "ready"],
      ["text", "ready"],
      ["wrong", "failed"],
    ]);
    const named = (wanted: string) => hosts.find(({ name }) => name === wanted);
    expect(named("text")).toMatchObject({
      target: "host_text",
      session: "agent",
      tools: expect.arrayContaining(["text__count", "text__wrapped"]),
      refused: [{ name: "broken", reason: expect.stringContaining("JSON Schema") }],
      tags: ["text"],
      required_tags: ["tools"],
      breaker: { state: "closed" },
      processes: [{ state: "ready" }],
    });
    expect(named("text")?.tools).not.toContain("text__broken");
    expect(named("missing")).toMatchObject({
      problem: { code: "not_found", message: expect.stringContaining("no-such-program") },
    });
    expect(named("wrong")).toMatchObject({
      problem: { code: "bad_request", message: expect.stringContaining("$.level") },
    });
    expect(stack.up.stderr()).toContain("a host cannot be used");
  });

  test("[HOST-4-20] the tools are registered like any others, safety, tags and prefix included", async () => {
    const definitionOf = async (name: string) => {
      const tool = await stack.get(`/tools/${name}`);
      return (tool.definition ?? tool) as { readonly target_subject: string; readonly options: object };
    };
    expect(await definitionOf("text__count")).toMatchObject({
      target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.host_text.count",
      options: { retry: "safe", session: "agent", tags: ["text"], required_tags: ["tools"] },
    });
    expect((await definitionOf("text__slow")).options).not.toHaveProperty("retry");
    expect(await definitionOf("open_count")).toMatchObject({ options: { control: "allow", timeout_seconds: 6 } });
  });

  const whyOf = async (host: string) => {
    await stack.up.request("POST", "/projects/demo/tools", {
      tool_name: `${host}__tool`,
      description: "of a host that is not there",
      target_subject: `cg.v1r4.{project_id}.{channel_id}.cmd.tool.host_${host}.tool`,
      after_execution: "suspend",
      parameters: { type: "object", properties: {} },
      options: {},
    });
    const { tool_call_id } = await stack.call(`${host}__tool`, {}, { wait_seconds: 0 });
    return stack.get(`/calls/${String(tool_call_id)}/why`);
  };

  test("[API-4-H2] why says that a host does not run, and what to do", async () => {
    expect(await whyOf("missing")).toMatchObject({
      why: expect.stringMatching(/^host missing does not run: there is no program no-such-program; /),
      todo: expect.stringContaining("toolplane.yaml"),
    });
  });

  test("[API-4-H4] a mute host keeps nobody waiting; until it speaks it is starting, and everybody says so", async () => {
    expect((await stack.hosts()).find(({ name }) => name === "mute")).toMatchObject({
      state: "starting",
      problem: null,
      todo: expect.stringContaining("wait a moment"),
      processes: [{ state: "starting" }],
    });
    const lines = stack.up.stderr().split("\n");
    expect(lines.filter((line) => line.includes("still starting") && line.includes('"mute"'))).toHaveLength(1);
    expect((await stack.call("mute__hello")).error).toMatchObject({
      code: "not_found",
      message:
        "project demo has no tool mute__hello; host mute is starting and has not said yet what it offers, and its tools come when it is ready",
    });
    expect((await whyOf("mute")).why).toMatch(
      /^host mute is starting .*; the call waits until it is ready, and gives up/,
    );
  });
});

describe("calls", () => {
  test.each([
    ["text__say_no", "failed", { code: "tool_error", message: "the tool says no" }],
    ["text__throw", "failed", { code: "internal_error", detail: { type: "RangeError", detail: "out of range" } }],
    ["text__nul", "failed", { code: "result_not_serializable" }],
    ["text__surrogate", "failed", { code: "result_not_serializable" }],
    ["text__huge", "failed", { code: "result_too_large" }],
  ])("[HOST-4-T2] %s settles %s", async (tool, status, error) => {
    const settled = await stack.call(tool);
    expect(settled).toMatchObject({ status, error });
    expect(JSON.stringify(settled)).not.toContain("node-host.");
  });

  test.each([
    ["text__throw", {}, "RangeError", "node-host."],
    ["data__slow", { ms: "no number" }, "ValueError", "data_host.py"],
  ])("[API-diagnostics-6] an operator sees where %s threw", async (tool, args, name, file) => {
    const { tool_call_id: id } = await stack.call(tool, args);
    const { diagnostics } = await stack.get(`/calls/${String(id)}`);
    expect(diagnostics).toMatchObject({ name, stack: expect.stringContaining(file) });
  });

  test("[HOST-4-T2] a deadline is tool_timeout, and the host goes on", async () => {
    const late = stack.call("open_slow", { ms: 60_000 });
    expect(await stack.call("open_slow", { ms: 1 })).toMatchObject({ status: "success" });
    expect(await late).toMatchObject({ status: "timeout", error: { code: "tool_timeout" } });
    expect(await stack.call("open_slow", { ms: 1 })).toMatchObject({ status: "success" });
  }, 60_000);

  test("[INV-I11-H1] a host cannot steer the turn unless its configuration allows it", async () => {
    expect((await stack.call("text__control")).result).toEqual({ kept: 1 });
    expect((await stack.call("open_control")).result).toMatchObject({ __cg_control: { after_execution: "terminate" } });
  });

  test("[INV-I8-H1] a secret a host was given leaves it nowhere; one it was not given is not there", async () => {
    const parts = await collectParts(stack, token, () => stack.call("text__leak"), 1);
    const settled = await stack.call("text__leak");
    expect(settled.result).toEqual({ secret: "[redacted HOST_SECRET]", other: null });
    const card = await stack.get(`/cards/${String(settled.tool_result_card_id)}`);
    const everything = JSON.stringify([parts, settled, card, await stack.hosts()]) + stack.up.stderr();
    expect(everything).toContain("redacted HOST_SECRET");
    expect(everything).not.toContain(SECRET);
    expect(everything).not.toContain("must not be seen");
  });
});

describe("sessions", () => {
  test("[HOST-4-15] calls of one session count without a gap, however many come at once", async () => {
    const before = Number(((await stack.call("text__count")).result as { count: number }).count);
    const settled = await Promise.all(Array.from({ length: 20 }, () => stack.call("text__count")));
    const counts = settled.map(({ result }) => (result as { count: number }).count).sort((a, b) => a - b);
    expect(counts).toEqual(Array.from({ length: 20 }, (_, index) => before + index + 1));
  }, 60_000);

  test("[HOST-4-15] a failed call leaves the state as it was", async () => {
    const { count } = (await stack.call("text__count")).result as { count: number };
    expect(await stack.call("text__count", { fail: true })).toMatchObject({ status: "failed" });
    expect((await stack.call("text__count")).result).toMatchObject({ count: count + 1, greeting: "hi" });
  });

  test("[HOST-4-16] [HOST-4-14] a named session remembers, another does not know, and without a name nothing is kept", async () => {
    const say = async (word: string, session_id?: string) =>
      (
        (await stack.call("data__remember", { word, ...(session_id === undefined ? {} : { session_id }) })).result as {
          seen: string[];
        }
      ).seen;
    expect(await say("a", "one")).toEqual(["a"]);
    expect(await say("b", "one")).toEqual(["a", "b"]);
    expect(await say("c", "two")).toEqual(["c"]);
    expect(await say("d")).toEqual(["d"]);
    expect(await say("e")).toEqual(["e"]);
  });

  test("[API-4-H3] a service that pulls over HTTP gets the state with the claim and leaves it with the result", async () => {
    await stack.up.request("POST", "/projects/demo/tools", {
      tool_name: "pulled",
      description: "served by this test",
      target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.puller.run",
      after_execution: "suspend",
      parameters: { type: "object", properties: {} },
      options: { session: "agent" },
    });
    const serve = async (session_state: object) => {
      const { tool_call_id } = await stack.call("pulled", {}, { wait_seconds: 0 });
      const claimed = await stack.up.request("POST", "/projects/demo/tool-services/puller/claim", { wait_seconds: 5 });
      const [command] = claimed.body.commands;
      const body = { lease: command?.lease.id, status: "success", result: 1, session_state };
      await stack.up.request("POST", `/projects/demo/calls/${String(tool_call_id)}/result`, body);
      return command?.session;
    };
    expect(await serve({ n: 1 })).toBeUndefined();
    expect(await serve({ n: 2 })).toEqual({ n: 1 });
  });
});

describe("what is shown", () => {
  test.each(["text__stream", "data__stream"])(
    "[HOST-4-T5] parts of %s reach the event stream in order",
    async (tool) => {
      const count = tool === "text__stream" ? 5 : 3;
      const parts = await collectParts(stack, token, () => stack.call(tool), count);
      expect(parts.map(({ index, part }) => [index, part])).toEqual(
        Array.from({ length: count }, (_, n) => [n, { n }]),
      );
    },
  );

  test("[HOST-2-V1] the card keeps the raw result, and beside it what a model reads and what people see", async () => {
    const settled = await stack.call("text__wrapped", { a: 1 });
    expect(settled.result).toEqual({ envelope: false, toolName: "wrapped" });
    const card = await stack.get(`/cards/${String(settled.tool_result_card_id)}`);
    const text = 'for models: {"envelope":false,"toolName":"wrapped"}';
    expect(card.metadata).toMatchObject({
      views: { model: text, preview: "wrapped with 1 arguments", display: { title: "Result", text } },
    });
  });

  test("[HOST-2-V1] the explicit envelope stays structured", async () => {
    const settled = await stack.call("text__wrapped", { envelope: true });
    const card = await stack.get(`/cards/${String(settled.tool_result_card_id)}`);
    expect((card.metadata as { views: { model: object } }).views.model).toEqual({
      type: "provider_native_tool_result",
      format: "openai.responses",
      output: [],
    });
  });
});

describe("a pinned tool of a host", () => {
  const FIELDS = ["tool_name", "description", "target_subject", "after_execution", "parameters", "options"];
  /** A person pins the tool, and may change more of it. */
  const pin = async (name: string, change: object = {}): Promise<void> => {
    const tool = await stack.get(`/tools/${name}`);
    const own = Object.fromEntries(FIELDS.map((field) => [field, tool[field]]));
    const options = { ...(tool.options as object), pin: "strict" };
    expect((await stack.up.request("POST", "/projects/demo/tools", { ...own, options, ...change })).status).toBe(200);
  };

  test.each(["open_count", "data__remember"])("[ENG-pin-1] %s runs while its code is the host's", async (name) => {
    await pin(name);
    const args = name === "open_count" ? { text: "one two" } : { word: "pinned" };
    expect(await stack.call(name, args)).toMatchObject({ status: "success" });
  });

  test("[ENG-pin-1] [ENG-pin-5] a definition that is not the host's waits for a service that runs it", async () => {
    await pin("open_count", { description: "Not what the host does" });
    const body = { tool_name: "open_count", arguments: { text: "one" }, wait_seconds: 0 };
    const { body: made } = await stack.up.request("POST", "/projects/demo/calls", body);
    const { why } = await stack.get(`/calls/${made.tool_call_id}/why`);
    expect(why).toContain("under which it was made (pin: strict)");
    await stack.up.request("POST", `/projects/demo/calls/${made.tool_call_id}/cancel`, {});
  });
});
