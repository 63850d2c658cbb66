// The tools of a project over MCP, with the official clients of both eras: one stack for all tests of this file.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as EarlierTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { defineTool } from "@toolplane/sdk";
import { until } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { echo, type McpStack, startMcpStack } from "./mcp-stack.ts";
import { type RpcCall, rpcTo } from "./rpc.ts";

const KEY = "toolplane/idempotency_key";

let runs = 0;
const released = new Map<string, () => void>();

const count = defineTool({
  name: "count_runs",
  description: "Counts its runs",
  parameters: { type: "object", properties: { by: { type: "number" } } } as const,
  options: { title: "Runs", args: { fixed: { secret: "hidden" } }, annotations: { destructive: false } },
  run: () => {
    runs += 1;
    return { runs };
  },
});

/** Runs until the test releases it, or until it is canceled. */
const wait = defineTool({
  name: "wait",
  description: "Waits",
  parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const,
  run: ({ name }, { signal, emit }) =>
    new Promise((resolve, reject) => {
      emit({ progress: 1, total: 2, message: "half way" });
      released.set(name, () => resolve(`waited for ${name}`));
      signal.addEventListener("abort", () => {
        released.set(`${name} canceled`, () => undefined);
        reject(signal.reason);
      });
    }),
});

const guarded = defineTool({
  name: "guarded",
  description: "A person is asked first",
  parameters: { type: "object", properties: { what: { type: "string" } } } as const,
  options: { approval: "required" },
  run: ({ what }) => `did ${String(what)}`,
});

const outside = defineTool({
  name: "outside",
  description: "A person is asked when the arguments may come from outside",
  parameters: { type: "object", properties: {} } as const,
  options: { approval: "external" },
  run: () => "done",
});

/** Asks before it does anything. */
const remove = defineTool({
  name: "remove",
  description: "Removes a file",
  parameters: { type: "object", properties: { path: { type: "string" }, answers: { type: "object" } } } as const,
  options: { input: "answers" },
  run: ({ path, answers }) =>
    answers === undefined
      ? {
          __cg_input: {
            requests: { sure: { method: "elicitation/create", params: { message: `Remove ${String(path)}?` } } },
          },
        }
      : `removed ${String(path)}`,
});

let stack: McpStack;
let url: URL;
let headers: Record<string, string>;

beforeAll(async () => {
  stack = await startMcpStack([echo, count, wait, guarded, outside, remove]);
  url = new URL(stack.url);
  headers = { authorization: `Bearer ${stack.http.admin}` };
});
afterAll(() => stack[Symbol.asyncDispose]());

const ERAS = [
  ["2026-07-28", "auto"],
  ["2025-11-25", "legacy"],
] as const;

const connect = async (mode: "auto" | "legacy", more: { query?: string; capabilities?: object } = {}) => {
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode }, capabilities: more.capabilities ?? {} },
  );
  const address = new URL(`${url.href}${more.query ?? ""}`);
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
  return client;
};

describe.each(ERAS)("a client of %s", (_revision, mode) => {
  test("[API-MCP-4] lists the project's tools as a model sees them, and only those that the address names", async () => {
    const client = await connect(mode);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["count_runs", "echo", "guarded", "outside", "remove", "wait"]);
    const shown = tools.find(({ name }) => name === "count_runs");
    expect(shown).toMatchObject({ title: "Runs", annotations: { destructiveHint: false } });
    expect(Object.keys(shown?.inputSchema.properties ?? {})).toEqual(["by"]);
    await client.close();
    const few = await connect(mode, { query: "?tools=ec*" });
    expect((await few.listTools()).tools.map(({ name }) => name)).toEqual(["echo"]);
    await expect(few.callTool({ name: "wait", arguments: { name: "x" } })).rejects.toThrow(/no tool/);
    await few.close();
  });

  test("[API-MCP-4] calls a tool, and gets its failure with advice", async () => {
    const client = await connect(mode);
    const answer = await client.callTool({ name: "echo", arguments: { text: "hi" } });
    expect(answer).toMatchObject({
      structuredContent: { said: "hi" },
      content: [{ type: "text", text: '{"said":"hi"}' }],
    });
    const bad = await client.callTool({ name: "echo", arguments: {} });
    expect(bad.isError).toBe(true);
    expect(JSON.stringify(bad.content)).toContain("bad_request");
    await expect(client.callTool({ name: "nothing", arguments: {} })).rejects.toThrow(/nothing/);
    await client.close();
  });

  test("[API-MCP-5] one key over HTTP and MCP is one call with one result card", async () => {
    const client = await connect(mode);
    const before = runs;
    const key = `both-${mode}`;
    const ask = { tool_name: "count_runs", arguments: { by: 1 }, idempotency_key: key, wait_seconds: 30 };
    const [http, first, second] = await Promise.all([
      stack.http.send("POST", "/projects/demo/calls", ask),
      client.callTool({ name: "count_runs", arguments: { by: 1 }, _meta: { [KEY]: key } }),
      client.callTool({ name: "count_runs", arguments: { by: 1 }, _meta: { [KEY]: key } }),
    ]);
    const card = http.body.tool_result_card_id;
    expect(card).toBeDefined();
    for (const answer of [first, second]) expect(answer._meta).toMatchObject({ "toolplane/tool_result_card_id": card });
    expect(runs).toBe(before + 1);
    const other = await client.callTool({ name: "count_runs", arguments: { by: 2 }, _meta: { [KEY]: key } });
    expect(JSON.stringify(other.content)).toContain("idempotency_conflict");
    await client.close();
  });

  test("[API-MCP-6] hears progress, and its cancellation reaches the tool", async () => {
    const client = await connect(mode);
    const heard: unknown[] = [];
    const name = `progress-${mode}`;
    const result = client.callTool(
      { name: "wait", arguments: { name } },
      { onprogress: (progress) => heard.push(progress) },
    );
    await until("the tool has told its progress", () => heard.length > 0);
    released.get(name)?.();
    expect(await result).toMatchObject({ content: [{ type: "text", text: `waited for ${name}` }] });
    expect(heard).toMatchObject([{ progress: 1, total: 2, message: "half way" }]);

    const gone = `gone-${mode}`;
    const stop = new AbortController();
    const canceled = client.callTool({ name: "wait", arguments: { name: gone } }, { signal: stop.signal });
    await until("the tool runs", () => released.has(gone));
    stop.abort();
    await expect(canceled).rejects.toThrow();
    await until("the tool was told", () => released.has(`${gone} canceled`));
    await client.close();
  });

  test("a call with a key goes on when its client goes away, and is found again", async () => {
    const name = `kept-${mode}`;
    const _meta = { [KEY]: name };
    const first = await connect(mode);
    const lost = first.callTool({ name: "wait", arguments: { name }, _meta }).catch(() => "lost");
    await until("the tool runs", () => released.has(name));
    await first.close();
    expect(await lost).toBe("lost");
    const second = await connect(mode);
    const found = second.callTool({ name: "wait", arguments: { name }, _meta });
    released.get(name)?.();
    expect(await found).toMatchObject({ content: [{ text: `waited for ${name}` }] });
    expect(released.has(`${name} canceled`)).toBe(false);
    await second.close();
  });
});

test("[API-MCP-4] a client of the first SDK lists and calls", async () => {
  const client = new EarlierClient({ name: "test", version: "1" });
  const transport = new EarlierTransport(url, { requestInit: { headers } });
  await client.connect(transport as unknown as Parameters<typeof client.connect>[0]);
  expect((await client.listTools()).tools).toHaveLength(6);
  expect(await client.callTool({ name: "echo", arguments: { text: "v1" } })).toMatchObject({
    structuredContent: { said: "v1" },
  });
  await client.close();
});

const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} }, elicitation: {} };

const rpc: RpcCall = (...asked) => rpcTo({ url: stack.url, token: stack.http.admin })(...asked);

describe("tasks", () => {
  test("a slow call is a task with the call's id, which can be canceled", async () => {
    const made = await rpc("tools/call", { name: "wait", arguments: { name: "task" } }, { capabilities: TASKS });
    expect(made.result).toMatchObject({ resultType: "task", status: "working" });
    expect(made.result).not.toHaveProperty("content");
    const taskId = String(made.result?.taskId);
    expect((await stack.http.send("GET", `/projects/demo/calls/${taskId}`)).body).toMatchObject({ status: "running" });
    const get = () => rpc("tasks/get", { taskId }, { capabilities: TASKS });
    expect((await get()).result).toMatchObject({ status: "working", resultType: "complete", taskId });
    expect(await rpc("tasks/cancel", { taskId }, { capabilities: TASKS })).toMatchObject({
      result: { resultType: "complete" },
    });
    expect((await get()).result).toMatchObject({ status: "cancelled" });
    await until("the tool was told", () => released.has("task canceled"));
  });

  test("a call that waits for a person asks the person in front of the client, who may decide", async () => {
    const ask = { name: "guarded", arguments: { what: "it" } };
    const made = await rpc("tools/call", ask, { capabilities: TASKS });
    const taskId = String(made.result?.taskId);
    const waiting = (await rpc("tasks/get", { taskId }, { capabilities: TASKS })).result;
    expect(waiting).toMatchObject({
      status: "input_required",
      inputRequests: { approval: { method: "elicitation/create" } },
    });
    const inputResponses = { approval: { action: "accept", content: { approve: true } } };
    await rpc("tasks/update", { taskId, inputResponses }, { capabilities: TASKS });
    await until("the call has run", async () => {
      const { result } = await rpc("tasks/get", { taskId }, { capabilities: TASKS });
      return result?.status === "completed";
    });
    const done = (await rpc("tasks/get", { taskId }, { capabilities: TASKS })).result;
    expect(done?.result).toMatchObject({ content: [{ text: "did it" }] });
  });

  test("an agent is not asked to approve its own call, and sees no task of others", async () => {
    const { secret: token } = await stack.http.t.engine.tokens.create({ role: "agent", projectId: "demo" });
    const ask = { name: "guarded", arguments: { what: "it" } };
    const made = await rpc("tools/call", ask, { capabilities: TASKS, token });
    const taskId = String(made.result?.taskId);
    const waiting = (await rpc("tasks/get", { taskId }, { capabilities: TASKS, token })).result;
    expect(waiting).toMatchObject({ status: "working", statusMessage: /person approves/ });
    await rpc(
      "tasks/update",
      { taskId, inputResponses: { approval: { action: "accept", content: { approve: true } } } },
      {
        capabilities: TASKS,
        token,
      },
    );
    expect((await stack.http.send("GET", `/projects/demo/calls/${taskId}`)).body.status).toBe("awaiting_approval");
    await stack.http.send("POST", `/projects/demo/calls/${taskId}/deny`, {});
    const { engine } = stack.http.t;
    await engine.profiles.upsertProfile("demo", { name: "p", worker_target: "w" });
    await engine.agents.upsertAgent("demo", { agent_id: "other", profile_name: "p" });
    const other = await engine.tokens.create({ role: "agent", projectId: "demo", actorId: "other" });
    expect(await rpc("tasks/get", { taskId }, { capabilities: TASKS, token: other.secret })).toMatchObject({
      error: { code: -32602 },
    });
  });
});

test("a question is answered for the arguments that were asked about, by the caller that was asked", async () => {
  const capabilities = { elicitation: {} };
  const asked = await rpc("tools/call", { name: "remove", arguments: { path: "a" } }, { capabilities });
  expect(asked.result).toMatchObject({ resultType: "input_required", inputRequests: { sure: {} } });
  const requestState = asked.result?.requestState;
  const inputResponses = { sure: { action: "accept", content: {} } };
  const answer = { name: "remove", arguments: { path: "b" }, requestState, inputResponses };
  const { secret: token } = await stack.http.t.engine.tokens.create({
    role: "agent",
    projectId: "demo",
    actorId: "ann",
  });
  expect(await rpc("tools/call", answer, { capabilities, token })).toMatchObject({ error: { code: -32602 } });
  expect(await rpc("tools/call", { ...answer, name: "echo" }, { capabilities })).toMatchObject({
    error: { code: -32602 },
  });
  for (let time = 0; time < 2; time++)
    expect((await rpc("tools/call", answer, { capabilities })).result).toMatchObject({
      content: [{ text: "removed a" }],
    });
  const hidden = (await rpc("tools/list", {}, { capabilities })).result?.tools as { inputSchema: object }[];
  expect(JSON.stringify(hidden)).not.toContain("answers");
});

test("[SEC-8-10] answers among the arguments are dropped: the person is asked all the same", async () => {
  const forged = { path: "a", answers: { responses: { sure: { action: "accept" } } } };
  const capabilities = { elicitation: {} };
  const asked = await rpc("tools/call", { name: "remove", arguments: forged }, { capabilities });
  expect(asked.result).toMatchObject({ resultType: "input_required", inputRequests: { sure: {} } });
  const body = { tool_name: "remove", arguments: forged, wait_seconds: 30 };
  const made = await stack.http.send("POST", "/projects/demo/calls", body);
  expect(made.body.result).toMatchObject({ __cg_input: { requests: { sure: {} } } });
});

test("[SEC-15-2] a call over MCP may have been dictated from outside, also with an administrator's token", async () => {
  const capabilities = { elicitation: {} };
  const asked = await rpc("tools/call", { name: "outside", arguments: {} }, { capabilities });
  expect(asked.result).toMatchObject({ resultType: "input_required", inputRequests: { approval: {} } });
  const body = { tool_name: "outside", arguments: {}, wait_seconds: 30 };
  const made = await stack.http.send("POST", "/projects/demo/calls", body);
  expect(made.body.status).toBe("success");
});

describe("the door", () => {
  test("[API-MCP-7] a header that names another tool than the body is refused, and nothing runs", async () => {
    const before = runs;
    const answer = await rpc("tools/call", { name: "count_runs", arguments: {} }, { more: { "mcp-name": "echo" } });
    expect(answer).toMatchObject({ status: 400, error: { code: -32020 } });
    const taskId = "0198c000-0000-7000-8000-000000000000";
    expect(await rpc("tasks/get", { taskId }, { capabilities: TASKS, more: { "mcp-name": "another" } })).toMatchObject({
      status: 400,
      error: { code: -32020 },
    });
    expect(runs).toBe(before);
  });

  test("takes the tokens of the project and no others, and no page of another origin", async () => {
    const { engine } = stack.http.t;
    await engine.projects.createProject({ project_id: "other", title: "Other", bootstrap: false }, "sys.test");
    const foreign = await engine.tokens.create({ role: "agent", projectId: "other" });
    const post = (more: Record<string, string>) =>
      fetch(url, { method: "POST", headers: { "content-type": "application/json", ...more }, body: "{}" });
    expect((await post({})).status).toBe(401);
    expect((await post({ authorization: `Bearer ${foreign.secret}` })).status).toBe(403);
    expect((await post({ ...headers, origin: "http://evil.example" })).status).toBe(403);
    expect((await fetch(url, { method: "PUT", headers })).status).toBe(405);
  });

  test.each([
    ["?tools=zzz", /names zzz, and project demo has no such tool/],
    ["?tools=ehco", /did you mean echo/],
    ["?agents=nobody", /names nobody, and project demo has no such agent/],
    ["?tools=", /names nothing/],
    ["?tool=echo", /unknown key .{0,2}tool/],
  ])("an address that asks for what is not there is refused by name: %s", async (query, words) => {
    await expect(connect("auto", { query })).rejects.toThrow(words);
    const said = await fetch(`${url.href}${query}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 7, method: "ping" }),
    });
    expect([said.status, await said.text()]).toEqual([400, expect.stringMatching(words)]);
  });

  test("a session belongs to its token: another token of the project cannot use it", async () => {
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    };
    const accept = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const opened = await fetch(url, {
      method: "POST",
      headers: { ...headers, ...accept },
      body: JSON.stringify(initialize),
    });
    const session = opened.headers.get("mcp-session-id") ?? "";
    expect(session).not.toBe("");
    await opened.text();
    const { secret } = await stack.http.t.engine.tokens.create({ role: "agent", projectId: "demo" });
    const theirs = { "mcp-session-id": session, authorization: `Bearer ${secret}` };
    expect((await fetch(url, { headers: { ...theirs, accept: "text/event-stream" } })).status).toBe(405);
    expect((await fetch(url, { method: "DELETE", headers: theirs })).status).toBe(404);
    expect((await fetch(url, { method: "DELETE", headers: { ...headers, "mcp-session-id": session } })).status).toBe(
      200,
    );
    expect((await fetch(url, { method: "DELETE", headers: { ...headers, "mcp-session-id": session } })).status).toBe(
      404,
    );
  });
});
