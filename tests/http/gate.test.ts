import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

test("[SEC-11-token] everything but /health and /live needs a token that is known, whole and current", async () => {
  await using http = await startHttpStack();
  const path = `/projects/${http.t.projectId}/calls`;
  expect((await http.send("GET", "/live", undefined, { token: null })).status).toBe(200);
  expect((await http.send("GET", "/health", undefined, { token: null })).status).toBe(200);
  const flipped = http.admin.slice(0, -1) + (http.admin.endsWith("0") ? "1" : "0");
  for (const token of [null, "", "tp_1_2", flipped, `${http.admin}0`, "x".repeat(10_000)]) {
    const { status, body } = await http.send("GET", path, undefined, { token });
    expect({ status, code: body.error.code }).toEqual({ status: 401, code: "unauthorized" });
  }
  const short = await http.t.engine.tokens.create({ role: "viewer", projectId: http.t.projectId });
  expect((await http.send("GET", path, undefined, { token: short.secret })).status).toBe(200);
  await http.t.engine.tokens.revoke(short.token.tokenId);
  expect((await http.send("GET", path, undefined, { token: short.secret })).status).toBe(401);
});

test("[SEC-11-role] a role reaches only its own routes, a project's token only its project", async () => {
  await using http = await startHttpStack();
  const { engine, projectId } = http.t;
  await engine.projects.createProject({ project_id: "other", title: "Other", bootstrap: false }, "sys.test");
  const viewer = (await engine.tokens.create({ role: "viewer", projectId })).secret;
  const tool = await http.toolToken();
  const cases: readonly (readonly [string, string, string, number])[] = [
    [viewer, "GET", `/projects/${projectId}/calls`, 200],
    [viewer, "GET", "/projects/other/calls", 403],
    [viewer, "POST", `/projects/${projectId}/calls`, 403],
    [viewer, "GET", "/projects", 200],
    [viewer, "POST", "/projects", 403],
    [viewer, "POST", "/tokens", 403],
    [tool, "GET", `/projects/${projectId}/calls`, 403],
    [tool, "POST", `/projects/${projectId}/calls`, 403],
    [tool, "POST", `/projects/other/tool-services/test/claim`, 403],
    [tool, "POST", `/projects/${projectId}/tool-services/elsewhere/claim`, 403],
    [tool, "POST", `/projects/${projectId}/tool-services/test/claim`, 200],
  ];
  for (const [token, method, path, status] of cases)
    expect([
      method,
      path,
      (await http.send(method, path, method === "POST" ? { wait_seconds: 0 } : undefined, { token })).status,
    ]).toEqual([method, path, status]);
});

test("[SEC-11-host] a request for another host, or from another origin, is refused", async () => {
  await using http = await startHttpStack();
  const get = (headers: Record<string, string>) => http.send("GET", "/live", undefined, { headers });
  expect((await get({ host: "evil.example" })).status).toBe(403);
  expect((await get({ host: "localhost:7420", origin: "http://evil.example" })).status).toBe(403);
  expect((await get({ host: "127.0.0.1:7420", origin: "http://127.0.0.1:7420" })).status).toBe(200);
  expect((await get({ host: "[::1]:7420" })).status).toBe(200);
});

let gate: HttpStack;
beforeAll(async () => {
  gate = await startHttpStack();
});
afterAll(() => gate[Symbol.asyncDispose]());

test.each<[string, string, number, string?]>([
  ["localhost:7420", "http://localhost:3000", 403],
  ["localhost:7420", "http://localhost", 403],
  ["localhost", "http://localhost:3000", 403],
  ["[::1]:7420", "http://[::1]:7421", 403],
  ["localhost:7420", "null", 403],
  ["localhost:7420", "file://", 403],
  ["localhost:7420", "http://localhost:7420@evil.example", 403],
  ["localhost:7420", "http://evil.example/localhost:7420", 403],
  ["localhost:7420", "chrome-extension://localhost:7420", 403],
  ["localhost:7420", "http://localhost:7420", 200],
  ["LOCALHOST:7420", "http://localhost:7420", 200],
  ["[::1]:7420", "http://[::1]:7420", 200],
  ["localhost", "http://localhost", 200],
  ["localhost:80", "http://localhost", 200],
  // Another program may speak https under this name: the plane itself speaks http.
  ["localhost", "https://localhost", 403],
  ["localhost:7420", "https://localhost:7420", 403],
  // Behind a proxy that speaks TLS: neither names the port.
  ["localhost", "https://localhost", 200, "https"],
  ["localhost:443", "https://localhost", 200, "https"],
  ["localhost", "https://localhost", 200, "https, http"],
  ["localhost", "http://localhost", 403, "https"],
])("[SEC-11-port] a request to %s from a page of %s is answered with %i", async (host, origin, status, proto = "") => {
  const headers = { host, origin, ...(proto === "" ? {} : { "x-forwarded-proto": proto }) };
  expect((await gate.send("GET", "/live", undefined, { headers })).status).toBe(status);
});

test("[API-errors] every failure has one shape, the status of its code, and says what to do", async () => {
  await using http = await startHttpStack();
  const calls = `/projects/${http.t.projectId}/calls`;
  const cases: readonly (readonly [string, string, unknown, number, string])[] = [
    ["GET", "/nothing", undefined, 404, "not_found"],
    ["GET", `${calls}/nothing`, undefined, 404, "not_found"],
    ["POST", calls, "{not json", 400, "bad_request"],
    ["POST", calls, { tool_name: "safe", surprise: 1 }, 400, "bad_request"],
    ["POST", calls, { tool_name: "nothing" }, 404, "not_found"],
    ["POST", calls, { tool_name: "safe", wait_seconds: -1 }, 400, "bad_request"],
    ["GET", `${calls}?limit=0`, undefined, 400, "bad_request"],
    ["GET", `${calls}?limit=abc`, undefined, 400, "bad_request"],
    ["POST", calls, { tool_name: "safe", arguments: { text: "x".repeat(3 * 1024 * 1024) } }, 413, "payload_too_large"],
    ["POST", "/tokens", { role: "tool", project_id: "demo" }, 400, "bad_request"],
    ["POST", "/tokens", { role: "viewer", project_id: "nobody" }, 404, "not_found"],
  ];
  for (const [method, path, body, status, code] of cases) {
    const answer = await http.send(method, path, body);
    expect([method, path, answer.status, answer.body.error.code]).toEqual([method, path, status, code]);
    expect(answer.body.error.message.length).toBeGreaterThan(10);
    expect(
      Object.keys(answer.body.error)
        .sort()
        .filter((key) => !["code", "detail", "message", "retryable"].includes(key)),
    ).toEqual([]);
  }
});

test("[SEC-8-proto] prototype keys in a body are harmless", async () => {
  await using http = await startHttpStack();
  const body =
    '{"tool_name":"safe","arguments":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}';
  const { status } = await http.send("POST", `/projects/${http.t.projectId}/calls`, body);
  expect(status).toBe(202);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
