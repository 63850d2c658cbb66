// What an MCP client holds, and when it ends: its login, its places among the open requests, its own calls. No client library: requests
// are sent as they are, because a client that abandons its call is what is tested.

import { defineTool } from "@toolplane/sdk";
import { until } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type McpStack, startMcpStack } from "./mcp-stack.ts";

const MAX_REQUESTS = 3;
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const released = new Map<string, () => void>();

/** Runs until the test lets it go. */
const wait = defineTool({
  name: "wait",
  description: "Waits",
  parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const,
  run: ({ name }) => new Promise((resolve) => released.set(name, () => resolve(name))),
});

let stack: McpStack;
beforeAll(async () => {
  const readers = { perToken: MAX_REQUESTS, inAll: 100, slowMs: 30_000, cutMs: 10_000 };
  stack = await startMcpStack([wait], { readers });
});
afterAll(() => stack[Symbol.asyncDispose]());

const ACCEPT = { "content-type": "application/json", accept: "application/json, text/event-stream" };

const makeToken = async (role: "agent" | "operator"): Promise<string> =>
  (await stack.http.t.engine.tokens.create({ role, projectId: "demo" })).secret;

const post = (body: object, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> =>
  fetch(stack.url, {
    method: "POST",
    headers: { ...ACCEPT, ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }),
    ...(signal === undefined ? {} : { signal }),
  });

const ask = (method: string, params: Record<string, unknown>, headers: Record<string, string>, capabilities = {}) => {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  const said = { "mcp-protocol-version": "2026-07-28", "mcp-method": method };
  const named = { "mcp-name": String(params.name ?? params.taskId) };
  return post({ method, params: { ...params, _meta } }, { ...said, ...named, ...headers });
};

test("[API-MCP-12] a request that was made with a browser's session ends when the browser logs out", async () => {
  const { http, origin } = stack;
  const { code } = (await http.send("POST", "/login-links")).body;
  const begun = await http.raw("/session", {
    method: "POST",
    headers: { ...ACCEPT, "sec-fetch-site": "same-origin" },
    body: JSON.stringify({ code }),
  });
  const cookie = (begun.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const own = { cookie, origin };
  const answer = ask("tools/call", { name: "wait", arguments: { name: "logout" } }, own);
  await until("the tool runs", () => released.has("logout"));
  expect((await fetch(`${origin}/session`, { method: "DELETE", headers: own })).status).toBe(204);
  expect(await (await answer).text()).toContain("the wait for call");
  expect((await ask("tools/list", {}, own)).status).toBe(401);
  released.get("logout")?.();
});

test("[API-MCP-13] a call that a client of a session leaves behind keeps its place until it ends", async () => {
  const authorization = `Bearer ${await makeToken("operator")}`;
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const opened = await post({ method: "initialize", params }, { authorization });
  await opened.text();
  const session = { authorization, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  const leave = async (name: string): Promise<void> => {
    const gone = new AbortController();
    const call = { id: name, method: "tools/call", params: { name: "wait", arguments: { name } } };
    const sent = post(call, session, gone.signal).then((response) => response.text());
    await until("the tool runs", () => released.has(name));
    gone.abort();
    await expect(sent).rejects.toThrow();
  };
  const list = async (): Promise<number> => {
    const response = await post({ method: "tools/list" }, session);
    await response.text();
    return response.status;
  };
  for (let n = 0; n < MAX_REQUESTS; n++) await leave(`left ${n}`);
  await until("the server has seen that the clients are gone", async () => (await list()) === 429);
  released.get("left 0")?.();
  await until("the place of the call that ended is free", async () => (await list()) === 200);
  await leave("left 3");
  expect(await list()).toBe(429);
  for (const letGo of released.values()) letGo();
});

test("[SEC-own-token] a token of role agent that names no agent is an actor of its own, over MCP and HTTP", async () => {
  const operator = { authorization: `Bearer ${await makeToken("operator")}` };
  const mine = { authorization: `Bearer ${await makeToken("agent")}` };
  const other = { authorization: `Bearer ${await makeToken("agent")}` };
  const make = async (headers: Record<string, string>, name: string): Promise<string> => {
    const made = await ask("tools/call", { name: "wait", arguments: { name } }, headers, TASKS);
    return ((await made.json()) as { result: { taskId: string } }).result.taskId;
  };
  const theirs = await make(operator, "theirs");
  const own = await make(mine, "own");
  const look = async (headers: Record<string, string>, taskId: string): Promise<readonly unknown[]> => {
    const got = (await (await ask("tasks/get", { taskId }, headers, TASKS)).json()) as { error?: { code: number } };
    const canceled = await ask("tasks/cancel", { taskId }, headers, TASKS);
    const refusal = ((await canceled.json()) as { error?: { code: number } }).error?.code;
    const path = `/projects/demo/calls/${taskId}`;
    return [got.error?.code, refusal, (await stack.http.raw(path, { headers })).status];
  };
  expect(await look(mine, theirs)).toEqual([-32602, -32602, 403]);
  expect(await look(other, own)).toEqual([-32602, -32602, 403]);
  expect((await stack.http.send("GET", `/projects/demo/calls/${theirs}`)).body.status).toBe("running");
  const list = await stack.http.raw("/projects/demo/calls", { headers: mine });
  expect(((await list.json()) as { items: unknown[] }).items).toHaveLength(1);
  expect(await look(mine, own)).toEqual([undefined, undefined, 200]);
  for (const letGo of released.values()) letGo();
});
