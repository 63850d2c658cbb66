import { ToolplaneError } from "@toolplane/protocol";
import type { ApiRequest } from "@toolplane/sdk/client";
import { describe, expect, test } from "vitest";
import { createMcpProxy, modernHeaders, withKey } from "./mcp-proxy.ts";

const MODERN = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };

test("the headers of a message are made from its body", () => {
  expect(modernHeaders({ method: "tools/call", params: { name: "zähle", ...MODERN } })).toEqual({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "=?base64?esOkaGxl?=",
  });
  expect(modernHeaders({ method: "tasks/get", params: { taskId: "t1", ...MODERN } })).toMatchObject({
    "mcp-name": "t1",
  });
  expect(modernHeaders({ method: "tools/list", params: {} })).toBeUndefined();
});

test("only a call without a key gets one", () => {
  const call = { method: "tools/call", params: { name: "a", _meta: { progressToken: 1 } } };
  expect(withKey(call, () => "k")).toMatchObject({
    params: { name: "a", _meta: { progressToken: 1, "toolplane/idempotency_key": "k" } },
  });
  const keyed = { method: "tools/call", params: { _meta: { "toolplane/idempotency_key": "own" } } };
  expect(withKey(keyed, () => "k")).toBe(keyed);
  const list = { method: "tools/list" };
  expect(withKey(list, () => "k")).toBe(list);
});

type Given = { status?: number; body?: unknown; stream?: string; fail?: Error };

const run = async (lines: readonly object[], answers: readonly Given[], whoami?: Error) => {
  const out: unknown[] = [];
  const notes: string[] = [];
  const asked: ApiRequest[] = [];
  const left = [...answers];
  const proxy = createMcpProxy({
    client: {
      request: async () => {
        if (whoami !== undefined) throw whoami;
        return {};
      },
      open: async (request) => {
        asked.push(request);
        const { status = 200, body, stream, fail } = left.shift() ?? { status: 202 };
        if (fail !== undefined) throw fail;
        const text = stream ?? (body === undefined ? "" : JSON.stringify(body));
        return {
          status,
          header: (name) =>
            name === "content-type" ? (stream === undefined ? "application/json" : "text/event-stream") : undefined,
          body: {
            text: async () => text,
            dump: async () => undefined,
            destroy: () => undefined,
            async *[Symbol.asyncIterator]() {
              yield new TextEncoder().encode(text);
            },
          },
        };
      },
    },
    project: "demo",
    write: (line) => out.push(JSON.parse(line)),
    note: (sentence) => notes.push(sentence),
    uuid: () => "key-1",
    sleep: async () => undefined,
  });
  await proxy.check();
  for (const line of lines) proxy.take(JSON.stringify(line));
  await proxy.idle();
  proxy.stop();
  return { out, asked, notes };
};

const CALL = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "a" } };
const DONE = { jsonrpc: "2.0", id: 7, result: { content: [] } };

describe("a call through the proxy", () => {
  test("[API-MCP-4] is answered with the messages of the stream, in order", async () => {
    const progress = { jsonrpc: "2.0", method: "notifications/progress", params: {} };
    const stream = `: hello\n\ndata: ${JSON.stringify(progress)}\n\ndata: ${JSON.stringify(DONE)}\n\n`;
    const { out, asked } = await run([CALL], [{ stream }]);
    expect(out).toEqual([progress, DONE]);
    expect(asked[0]).toMatchObject({ method: "POST", path: "/mcp/demo" });
  });

  test("is sent again with the same key when the connection breaks before its answer", async () => {
    const { out, asked } = await run([CALL], [{ fail: new Error("reset") }, { stream: ": hello\n\n" }, { body: DONE }]);
    expect(out).toEqual([DONE]);
    const keys = asked.map(({ body }) => (body as { params: { _meta: object } }).params._meta);
    expect(keys).toEqual(Array.from({ length: 3 }, () => ({ "toolplane/idempotency_key": "key-1" })));
  });

  test("of a client that cancels by closing is sent once, and the failure is its answer", async () => {
    const modern = { ...CALL, params: { name: "a", ...MODERN } };
    const { out, asked } = await run([modern], [{ fail: new Error("reset") }]);
    expect(asked).toHaveLength(1);
    expect(out).toMatchObject([{ id: 7, error: { code: -32603 } }]);
  });

  test("that is refused is answered with the refusal and what to do", async () => {
    const error = { code: "unauthorized", message: "no token", detail: { todo: "send one" } };
    const { out } = await run([CALL], [{ status: 401, body: { error } }]);
    expect(out).toMatchObject([{ id: 7, error: { message: "no token; send one" } }]);
  });
});

describe("a server that is away", () => {
  const gone = new ToolplaneError("upstream_unavailable", "no server answers at http://x", {
    detail: { todo: "start it" },
  });
  const hello = { jsonrpc: "2.0", id: 1, method: "initialize", params: {} };
  const welcome = { jsonrpc: "2.0", id: 1, result: { protocolVersion: "2025-11-25" } };

  test("is said at once and once, with what to do, and waited for", async () => {
    const { out, notes } = await run([hello], [{ fail: gone }, { fail: gone }, { body: welcome }], gone);
    expect(notes).toEqual([
      "no server answers at http://x; start it; requests are tried again for 2 minutes",
      "the server answers again",
    ]);
    expect(out).toEqual([welcome]);
  });

  test("goes and comes back in the middle of a call", async () => {
    const { out, notes } = await run([CALL], [{ fail: gone }, { body: DONE }]);
    expect(notes).toHaveLength(2);
    expect(out).toEqual([DONE]);
  });

  test("is something else than one that refuses the token", async () => {
    const refused = new ToolplaneError("unauthorized", "the token is unknown", { detail: { todo: "send another" } });
    expect((await run([], [], refused)).notes).toEqual(["the token is unknown; send another"]);
  });
});

test("a line that is not a message is answered as JSON-RPC says; a notification without an answer writes nothing", async () => {
  expect((await run([[] as never], [])).out).toMatchObject([{ id: null, error: { code: -32700 } }]);
  expect((await run([{ jsonrpc: "2.0", method: "notifications/x" }], [])).out).toEqual([]);
});
