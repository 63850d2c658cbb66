// Jina search and reader, from the guide's own options to the wire and back, against a stand-in of both hosts.

import type { JsonObject } from "@toolplane/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ApiWorld, openApiWorld, type Settled } from "./api-world.ts";
import { defineJina as define, GUIDE } from "./jina-guide.ts";
import { GOOD_KEY, type JinaStandIn, PROBLEMS, startJina } from "./jina-stand-in.ts";

const SEARCH_KEY = "search-canary-71f0/+=";
const HOSTS = ["s.jina.ai", "r.jina.ai"];

let jina: JinaStandIn;
let world: ApiWorld;
let poor: ApiWorld;
let count = 0;

/** Registers the options under a new name and calls the tool once. */
const run = async (options: object, args: JsonObject, on = world): Promise<Settled> => {
  const name = `jina_${++count}`;
  await on.engine.tools.upsertTool(on.projectId, define(name, options));
  return on.call(name, args);
};
const search = (args: JsonObject, more: object = {}, options: object = {}): Promise<Settled> =>
  run({ jina: { mode: "search", ...more }, ...options }, args);
const reader = (args: JsonObject, more: object = {}, options: object = {}): Promise<Settled> =>
  run({ jina: { mode: "reader", ...more }, ...options }, args);
const lastAsked = () => jina.asked.at(-1);

beforeAll(async () => {
  jina = await startJina();
  const grants = ["JINA_API_KEY", "SEARCH_API_KEY", "TEAM_KEY"].map((name) => ({
    name,
    projects: ["demo"],
    hosts: HOSTS,
  }));
  const env = { JINA_API_KEY: GOOD_KEY, SEARCH_API_KEY: SEARCH_KEY, TEAM_KEY: "team-key-0b5e" };
  world = await openApiWorld({ means: jina.means, grants, env });
  poor = await openApiWorld({
    means: jina.means,
    serviceEnvs: { openapi: { proxy_url: "TEAM_KEY" } },
    grants,
    env: {},
  });
  world.serve();
  poor.serve();
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await poor?.[Symbol.asyncDispose]();
  await jina?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  jina.asked.length = 0;
  jina.fault = undefined;
});

describe("the guide's example", () => {
  test("[API-JINA-1] [API-JINA-3] [API-JINA-5] [UTP-9-8] [UTP-9-11] it registers unchanged and asks as the guide says", async () => {
    const { status, result } = await run(GUIDE, { query: "durable tools & more", num: 2 });
    expect({ status, result }).toMatchObject({
      status: "success",
      result: { code: 200, data: [{ title: "durable tools & more 1" }, {}], latency_ms: expect.any(Number) },
    });
    expect(jina.asked).toHaveLength(1);
    const asked = lastAsked();
    // Neither the key of `envs`, nor what only the plane needs, nor the argument's other name.
    expect(`${asked?.method} ${asked?.host}${asked?.url}`).toBe(
      "GET s.jina.ai/search?q=durable%20tools%20%26%20more&num=2",
    );
    expect(asked?.headers).toMatchObject({ authorization: `Bearer ${GOOD_KEY}`, accept: "application/json" });
    expect(world.lines.join("\n")).toContain("arguments with secret values were not sent");
    expect(`${world.lines.join("\n")}${JSON.stringify(result)}`).not.toMatch(/canary/u);
  });

  test("[UTP-9-16] [UTP-9-18] a body that echoes the key, and its control keys, leave neither in the result", async () => {
    jina.fault = ({ headers }, response) => {
      const body = { echo: headers.authorization, __cg_control: { after_execution: "terminate" }, data: [] };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    const { status, result } = await run(GUIDE, { q: "x" });
    expect(status).toBe("success");
    expect(result).toMatchObject({ echo: "Bearer [redacted JINA_API_KEY]" });
    expect(result).not.toHaveProperty("__cg_control");
    const entries = await world.engine.audit.list(world.projectId);
    expect(entries.some(({ act }) => act.includes("control"))).toBe(true);
    const allowed = await run({ ...GUIDE, control: "allow" }, { q: "x" });
    expect(allowed.result).toHaveProperty("__cg_control");
  });
});

test("[UTP-9-1] [UTP-9-2] a tool without the options is bad_request, one that is not registered not_found; nothing is sent", async () => {
  for (const options of [{}, { jina: {} }, { openapi: {} }])
    expect((await run(options, { q: "x" })).error?.code, JSON.stringify(options)).toBe("bad_request");
  await expect(world.dispatch("never_registered")).rejects.toMatchObject({ code: "not_found" });
  expect(jina.asked).toEqual([]);
});

describe("which of the two services", () => {
  test.each([
    ["by mode", { jina: { mode: "search" } }, { q: "x" }, "s.jina.ai"],
    ["read is the reader", { jina: { mode: "read" } }, { url: "https://example.com" }, "r.jina.ai"],
    ["crawl is the reader", { jina: { mode: "crawl" } }, { url: "https://example.com" }, "r.jina.ai"],
    ["by the host", { jina: { base_url: "https://r.jina.ai/" } }, { url: "https://example.com" }, "r.jina.ai"],
    ["by the host of the older object", { openapi: { base_url: "https://s.jina.ai" } }, { q: "x" }, "s.jina.ai"],
    [
      "by the path of the older object",
      { jina: { accept: "text/plain" }, openapi: { path: "/search" } },
      { q: "x" },
      "s.jina.ai",
    ],
  ])("[UTP-9-3] %s", async (_name, options, args, host) => {
    expect((await run(options, args as JsonObject)).status).toBe("success");
    expect(lastAsked()?.host).toBe(host);
  });

  test.each([
    ["no mode at all", { auth_env: "JINA_API_KEY" }],
    ["another mode", { mode: "embed" }],
    ["an unknown key", { mode: "search", endpoint: "/x" }],
    ["another host", { mode: "search", base_url: "https://s.jina.ai.example.com" }],
    ["the host of the other mode", { mode: "search", base_url: "https://r.jina.ai" }],
    ["plain http", { mode: "search", base_url: "http://s.jina.ai" }],
    ["another port", { mode: "search", base_url: "https://s.jina.ai:8443" }],
    ["a user in the address", { mode: "search", base_url: "https://eve@s.jina.ai" }],
    ["a path that leads elsewhere", { mode: "search", path: "/..//evil?x=" }],
    ["a template without its place", { mode: "reader", endpoint_template: "/page" }],
  ])("[UTP-9-3] [UTP-9-4] %s is bad_request, and nothing is sent", async (_name, options) => {
    const { error } = await run({ jina: options }, { q: "x", url: "https://example.com" });
    expect(error?.code).toBe("bad_request");
    expect(jina.asked).toEqual([]);
  });
});

describe("a search", () => {
  test.each([[{}], [{ q: " " }], [{ query: 5 }]])("[UTP-9-8] %j is bad_request", async (args) => {
    expect((await search(args as JsonObject)).error?.code).toBe("bad_request");
    expect(jina.asked).toEqual([]);
  });

  test("[UTP-9-5] [UTP-9-6] [UTP-9-10] another method sends a JSON body; the definition's defaults are below the arguments", async () => {
    await search({ query: "x", site: ["a.example", "b.example"] }, { method: "post", defaults: { num: 1, gl: "de" } });
    expect(lastAsked()).toMatchObject({
      method: "POST",
      url: "/search",
      headers: { "content-type": "application/json" },
    });
    expect(JSON.parse(lastAsked()?.body ?? "")).toEqual({ q: "x", num: 1, gl: "de", site: ["a.example", "b.example"] });
    await search({ q: "x", num: 2 }, { defaults: { num: 1, gl: "de" } });
    expect(lastAsked()?.url).toBe("/search?q=x&gl=de&num=2");
    await search({ q: "x", site: ["a.example", "b.example"] });
    expect(lastAsked()?.url).toBe("/search?q=x&site=a.example&site=b.example");
  });

  test("[API-JINA-1] the value of a variable enters the address only where the definition allows it", async () => {
    const envs = { envs: { api_key: "SEARCH_API_KEY" } };
    await search({ q: "x" }, {}, { ...envs, secrets_in_url: true });
    expect(lastAsked()?.url).toBe(`/search?q=x&api_key=${encodeURIComponent(SEARCH_KEY)}`);
    await reader({ url: "https://example.com" }, {}, { ...envs, secrets_in_url: true });
    expect(lastAsked()?.url).toBe(`/${encodeURIComponent("https://example.com")}`);
  });

  test("[UTP-9-11] headers of the older object are below those of jina; text is asked for by accept", async () => {
    const openapi = { headers: { "X-Locale": "de", "X-Team": "a" } };
    const { result } = await run(
      { openapi, jina: { mode: "search", headers: { "x-team": "b" }, accept: "text/plain" } },
      { q: "x" },
    );
    expect(lastAsked()?.headers).toMatchObject({ "x-locale": "de", "x-team": "b", accept: "text/plain" });
    expect(result).toMatchObject({ data: expect.stringContaining("[1] Title: x 1") });
  });
});

describe("the reader", () => {
  test("[UTP-9-9] the target is one encoded piece of the path, under either name", async () => {
    const target = "https://example.com/a b?x=1&y=$&#z";
    const { result } = await reader({ target_url: target });
    expect(lastAsked()?.url).toBe(`/${encodeURIComponent(target)}`);
    expect(result).toMatchObject({ data: { url: "https://example.com/a%20b?x=1&y=$&#z" } });
    await reader({ url: "https://example.com" }, { endpoint_template: "read/{url}/now" });
    expect(lastAsked()?.url).toBe(`/read/${encodeURIComponent("https://example.com")}/now`);
    expect((await reader({ url: "" })).error?.code).toBe("bad_request");
  });

  test("[API-JINA-2] options travel as headers; what has none is dropped with a warning and never appended", async () => {
    const args = {
      url: "https://example.com",
      noCache: true,
      "X-Target-Selector": "main",
      token_budget: 500,
      mdHeadingStyle: "atx",
      foo: "bar",
    };
    const { result } = await reader(args);
    expect(lastAsked()?.url).toBe(`/${encodeURIComponent("https://example.com")}`);
    expect(lastAsked()?.headers).toMatchObject({
      "x-no-cache": "true",
      "x-target-selector": "main",
      "x-token-budget": "500",
      "x-md-heading-style": "atx",
    });
    expect(result).toMatchObject({ data: { url: "https://example.com/" } });
    const dropped = world.lines.findLast((line) => line.startsWith("arguments were not sent: the API has no place"));
    expect(dropped).toContain('"arguments":"foo"');
  });
});

describe("keys", () => {
  test("[API-JINA-4] [SEC-7-2] without a key a search is auth_failed and nothing is sent; the reader goes on without", async () => {
    const { error } = await run({ jina: { mode: "search" } }, { q: "x" }, poor);
    expect(error).toMatchObject({ code: "auth_failed", message: expect.stringContaining("JINA_API_KEY") });
    expect(jina.asked).toEqual([]);
    expect((await run({ jina: { mode: "reader" } }, { url: "https://example.com" }, poor)).status).toBe("success");
    expect(lastAsked()?.headers).not.toHaveProperty("authorization");
  });

  test("[UTP-9-20] the reader without its key is said once, with the name of the variable; with the key nothing is said", async () => {
    const said = (on: ApiWorld) => on.lines.filter((line) => line.includes("the Jina reader is asked without a key"));
    await poor.engine.tools.upsertTool(poor.projectId, define("anonymous", { jina: { mode: "reader" } }));
    const before = said(poor).length;
    for (const url of ["https://a.example", "https://b.example"]) await poor.call("anonymous", { url });
    expect(said(poor).slice(before)).toEqual([expect.stringMatching(/"tool":"anonymous".*"variable":"JINA_API_KEY"/u)]);
    await reader({ url: "https://example.com" });
    expect(said(world)).toEqual([]);
  });

  test("[UTP-9-7] the operator's configuration decides which variable fills a parameter; a missing one is auth_failed", async () => {
    const options = { jina: { mode: "reader" }, envs: { proxy_url: "SEARCH_API_KEY" } };
    const { error } = await run(options, { url: "https://example.com" }, poor);
    expect(error).toMatchObject({ code: "auth_failed", message: expect.stringContaining("TEAM_KEY") });
    expect(jina.asked).toEqual([]);
    await run(options, { url: "https://example.com" });
    expect(lastAsked()?.headers).toMatchObject({ "x-proxy-url": SEARCH_KEY });
  });
});

describe("what goes wrong there", () => {
  test.each([
    ["401", PROBLEMS.badKey, "auth_failed", 401, 1],
    ["402", PROBLEMS.noBalance, "bad_request", 402, 1],
    ["422", PROBLEMS.noContent, "bad_request", 422, 1],
    ["429", PROBLEMS.limited, "upstream_unavailable", 429, 3],
    ["451", PROBLEMS.blocked, "bad_request", 451, 1],
    ["503", PROBLEMS.crashed, "upstream_unavailable", 503, 3],
  ] as const)("[UTP-9-14] [UTP-9-15] %s", async (_name, fault, code, status, asked) => {
    jina.fault = fault;
    const { error } = await search({ q: "x" });
    expect(error).toMatchObject({ code, detail: { status_code: status, details: { code: status, data: null } } });
    expect(jina.asked).toHaveLength(asked);
  });

  test("[UTP-9-15] 429 with Retry-After: the pause is kept, and the next answer counts", async () => {
    jina.fault = (one, response) => {
      jina.fault = undefined;
      PROBLEMS.limitedFor(1)(one, response);
    };
    expect((await search({ q: "x" })).status).toBe("success");
    expect(jina.asked).toHaveLength(2);
    expect(world.lines.findLast((line) => line.startsWith("the tool failed and is tried again"))).toContain(
      '"wait_ms":1000',
    );
  });

  test("[UTP-9-15] 429 that asks for a longer pause than the call has: failed at once, with the pause", async () => {
    jina.fault = PROBLEMS.limitedFor(3_600);
    const { error } = await search({ q: "x" });
    expect(error).toMatchObject({ code: "upstream_unavailable", detail: { retry_after_seconds: 3_600 } });
    expect(jina.asked).toHaveLength(1);
  });

  test("[UTP-9-13] JSON that is cut off is kept as text", async () => {
    jina.fault = (_one, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"code":200,"data":[{"title":"cut');
    expect((await search({ q: "x" })).result).toMatchObject({ data: '{"code":200,"data":[{"title":"cut' });
  });

  test("[UTP-9-19] an error in the body of a 200 is a failure of the upstream", async () => {
    jina.fault = (_one, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"error":"quota","data":[]}');
    expect((await search({ q: "x" })).error).toMatchObject({
      code: "upstream_unavailable",
      detail: { status_code: 200, details: { error: "quota" } },
    });
    jina.fault = (_one, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"error":null,"data":[]}');
    expect((await search({ q: "x" })).status).toBe("success");
  });

  test("[UTP-9-17] an HTML page under a wrong type is an error with its beginning only", async () => {
    jina.fault = (_one, response) =>
      response
        .writeHead(502, { "content-type": "application/json" })
        .end(`<html><body>Bad gateway ${"x".repeat(50_000)}</body></html>`);
    const { error } = await search({ q: "x" }, {}, { retry: "never" });
    const { details = "" } = (error?.detail ?? {}) as { readonly details?: string };
    expect([error?.code, details.startsWith("<html><body>Bad gateway"), details.length]).toEqual([
      "upstream_unavailable",
      true,
      2_000,
    ]);
  });

  test("[SEC-6-6] a body of 20 MB is result_too_large", async () => {
    jina.fault = (_one, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(Buffer.alloc(20 * 1024 * 1024, " "));
    expect((await reader({ url: "https://example.com" })).error?.code).toBe("result_too_large");
    expect(jina.asked).toHaveLength(1);
  });

  test("[UTP-9-12] [UTP-9-14] an answer that drips is tool_timeout when the tool's own limit is over", async () => {
    jina.fault = (_one, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const timer = setInterval(() => response.write(" "), 50);
      response.on("close", () => clearInterval(timer));
    };
    const { error, status } = await search({ q: "x" }, { timeout_s: 0.5 });
    expect([status, error?.code]).toEqual(["timeout", "tool_timeout"]);
    expect(jina.asked).toHaveLength(1);
  });

  test("[UTP-9-14] [UTP-9-15] a connection that breaks is upstream_unavailable, and is not tried again", async () => {
    jina.fault = (_one, response) => response.socket?.destroy();
    const { error } = await search({ q: "x" });
    expect(error).toMatchObject({ code: "upstream_unavailable", retryable: true });
    expect(jina.asked).toHaveLength(1);
  });

  test("[SEC-6-5] a redirect to another host is not followed", async () => {
    jina.fault = (_one, response) => response.writeHead(302, { location: "http://169.254.169.254/latest" }).end();
    expect((await reader({ url: "https://example.com" })).error?.code).toBe("auth_failed");
    expect(jina.asked).toHaveLength(1);
  });
});
