// Tools that are HTTP operations, from the call to the wire and back: one engine, one service, one API for all tests.

import type { ServerResponse } from "node:http";
import type { JsonObject } from "@toolplane/protocol";
import { until } from "@toolplane/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ApiServer, type ApiWorld, answerJson, openApiWorld, startApiServer } from "./api-world.ts";

const PROJECT = "demo";
const TOKEN = "tok-0123456789-canary";

let api: ApiServer;
let world: ApiWorld;

beforeAll(async () => {
  api = await startApiServer();
  world = await openApiWorld({
    allow: [api.origin],
    grants: [{ name: "API_TOKEN", projects: [PROJECT], hosts: "any" }],
    env: { API_TOKEN: TOKEN },
  });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});
beforeEach(() => {
  api.asked.length = 0;
  api.answer = answerJson({ ok: true });
});

describe("the definition that a call was made with", () => {
  test("[HTTP-1-1] a tool that was changed or deleted meanwhile runs as the call was made with", async () => {
    await world.register("pinned", { base_url: `${api.origin}/v1`, path: "/{id}" });
    const first = await world.dispatch("pinned", { id: "a" });
    await world.register("pinned", { base_url: `${api.origin}/v2`, path: "/{id}", method: "put" });
    const second = await world.dispatch("pinned", { id: "b" });
    await world.engine.tools.deleteTool(world.projectId, "pinned");
    world.serve();
    const results = [await world.settled(first), await world.settled(second)];
    expect(results.map(({ status }) => status)).toEqual(["success", "success"]);
    expect(api.asked.map(({ method, url }) => `${method} ${url}`).sort()).toEqual(["GET /v1/a", "PUT /v2/b"]);
    const read = await world.engine.calls.get({ projectId: world.projectId, toolCallId: first });
    const [card] = await world.engine.cards.getCards(world.projectId, [read.resultCardId ?? ""]);
    const [asked] = await world.engine.cards.getCards(world.projectId, [read.callCardId]);
    expect(card?.metadata.definition_hash).toBe(asked?.metadata.definition_hash);
    expect(asked?.metadata.definition_hash).toEqual(expect.any(String));
  });
});

describe("the credential", () => {
  test("[HTTP-1-2] its value is read where the tool runs, sent to the API, and removed from what the API says", async () => {
    api.answer = ({ headers }, response) => answerJson({ echo: headers.authorization })({} as never, response);
    await world.register("bearer", { base_url: api.origin, path: "/me", auth: { scheme: "bearer", env: "API_TOKEN" } });
    const { status, result } = await world.call("bearer");
    expect([status, api.asked[0]?.headers.authorization]).toEqual(["success", `Bearer ${TOKEN}`]);
    expect(JSON.stringify(result)).not.toContain(TOKEN);
  });

  test("[SEC-7-2] a variable that is missing, or not given to the project, is auth_failed before anything is sent", async () => {
    await world.register("unset", { base_url: api.origin, path: "/me", auth_env: "OTHER_TOKEN" });
    const { status, error } = await world.call("unset");
    expect([status, error?.code]).toEqual(["failed", "auth_failed"]);
    expect(error?.message).toContain("OTHER_TOKEN");
    expect(api.asked).toEqual([]);
  });
});

test("[HTTP-2-6] an object whose member has the name of a fixed argument is refused before anything is sent", async () => {
  const fixed = { args: { fixed: { tenant: "locked" } } };
  await world.register("fenced", { base_url: api.origin, path: "/items" }, fixed);
  const { status, error } = await world.call("fenced", { filter: { Tenant: "evil" } });
  expect([status, error?.code]).toEqual(["failed", "bad_request"]);
  expect(error?.message).toContain('the argument filter would send "Tenant"');
  expect((await world.call("fenced", { filter: { color: "red" } })).status).toBe("success");
  expect(api.asked.map(({ url }) => url)).toEqual(["/items?color=red&tenant=locked"]);
});

test("[SEC-13-1] an address that the operator did not allow is refused at the call", async () => {
  await using other = await startApiServer();
  await world.register("elsewhere", { base_url: other.origin, path: "/" });
  const { error } = await world.call("elsewhere");
  expect(error?.code).toBe("auth_failed");
  expect(other.asked).toEqual([]);
});

describe("what goes wrong on the wire", () => {
  const registerAt = (name: string, more: JsonObject = {}, options: JsonObject = {}) =>
    world.register(name, { base_url: api.origin, path: `/${name}`, ...more }, options);

  test("[UTP-9-1] a definition without openapi or jina is bad_request, and nothing is sent", async () => {
    await world.register("empty", {});
    expect((await world.call("empty")).error).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("openapi"),
    });
    expect(api.asked).toEqual([]);
  });

  test("[UTP-9-15] a safe tool is sent again after 503 and settles with the third answer; another one is sent once", async () => {
    let left = 2;
    api.answer = (asked, response) => {
      left -= 1;
      (left >= 0 ? answerJson({ message: "busy" }, 503, { "retry-after": "0" }) : answerJson({ ok: true }))(
        asked,
        response,
      );
    };
    await registerAt("again", {}, { retry: "safe" });
    expect((await world.call("again")).status).toBe("success");
    expect(api.asked).toHaveLength(3);
    left = 2;
    await registerAt("once", { method: "POST" });
    const { error } = await world.call("once");
    expect(error).toMatchObject({ code: "upstream_unavailable", retryable: true, detail: { retry_after_seconds: 0 } });
    expect(api.asked).toHaveLength(4);
  });

  test("[UTP-9-15] a pause that ends after the deadline is not waited for, and the caller learns of it", async () => {
    api.answer = answerJson({ message: "slow down" }, 429, { "retry-after": "3600" });
    await registerAt("later", {}, { retry: "safe" });
    expect((await world.call("later")).error).toMatchObject({
      code: "upstream_unavailable",
      retryable: true,
      detail: { status_code: 429, retry_after_seconds: 3600, details: { message: "slow down" } },
    });
    expect(api.asked).toHaveLength(1);
  });

  test.each([
    [
      "JSON that ends early, with a closed connection",
      (response: ServerResponse) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
        response.write('{"a":');
        setImmediate(() => response.socket?.destroy());
      },
      { code: "upstream_unavailable" },
    ],
    [
      "an HTML page for an error",
      (response: ServerResponse) =>
        response.writeHead(500, { "content-type": "text/html" }).end(`<html>${"x".repeat(50_000)}`),
      { code: "upstream_unavailable", detail: { status_code: 500, details: expect.stringMatching(/^<html>x{1994}$/) } },
    ],
    [
      "20 MB",
      (response: ServerResponse) =>
        response.writeHead(200, { "content-type": "application/json" }).end(`"${"x".repeat(20_000_000)}"`),
      { code: "result_too_large" },
    ],
    [
      "2 MB, more than a card holds",
      (response: ServerResponse) =>
        response.writeHead(200, { "content-type": "application/json" }).end(`"${"x".repeat(2_000_000)}"`),
      { code: "result_too_large" },
    ],
    ["a closed connection", (response: ServerResponse) => response.socket?.destroy(), { code: "upstream_unavailable" }],
    [
      "headers without end",
      (response: ServerResponse) => response.writeHead(200, { "x-long": "y".repeat(100_000) }).end("{}"),
      { code: "result_too_large" },
    ],
  ])("[HTTP-6-1] %s", async (_what, answer, expected) => {
    api.answer = (_asked, response) => void answer(response);
    await registerAt("odd", { method: "POST" });
    expect((await world.call("odd")).error).toMatchObject(expected);
  });

  test("[HTTP-6-1] a slow drip ends with the call's deadline, and with the operation's own limit before it", async () => {
    const open: ServerResponse[] = [];
    api.answer = (_asked, response) => {
      open.push(response.writeHead(200, { "content-type": "application/json" }));
      response.write(" ");
    };
    await registerAt("drip", {}, { timeout_seconds: 0.3 });
    await registerAt("limit", { timeout_s: 0.3, method: "POST" });
    const [drip, limit] = await Promise.all([world.call("drip"), world.call("limit")]);
    expect([drip.status, drip.error?.code]).toEqual(["timeout", "tool_timeout"]);
    expect([limit.status, limit.error?.code]).toEqual(["timeout", "tool_timeout"]);
    // The requests were ended, not left behind.
    await until("both requests are closed", () =>
      open.every((response) => response.socket === null || response.socket.destroyed),
    );
  });

  test("[UTP-9-18] control keys of an answer are stripped and audited", async () => {
    api.answer = answerJson({ a: 1, __cg_control: { after_execution: "terminate" } });
    await registerAt("controls");
    expect((await world.call("controls")).result).toEqual({ a: 1, latency_ms: expect.any(Number) });
    const acts = await world.engine.audit.list(PROJECT, {});
    expect(acts.map(({ act }) => act)).toContain("control.stripped");
  });

  test("[UTP-9-16] a secret that comes back in an error is in no card, event or log line", async () => {
    api.answer = ({ headers }, response) =>
      answerJson({ message: `bad ${headers.authorization}`, b64: Buffer.from(TOKEN).toString("base64") }, 401)(
        {} as never,
        response,
      );
    await registerAt("leaky", { auth_env: "API_TOKEN" });
    const { error } = await world.call("leaky");
    expect(error?.code).toBe("auth_failed");
    const all = JSON.stringify([error, world.lines]);
    expect(all).not.toContain(TOKEN);
    expect(all).not.toContain(Buffer.from(TOKEN).toString("base64").replace(/=+$/, ""));
  });
});
