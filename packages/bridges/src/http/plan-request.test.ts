import type { JsonObject, ToolDefinition } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { createOpenapiPlan } from "./openapi-plan.ts";

const definitionOf = (openapi: JsonObject, options: JsonObject = {}): ToolDefinition => ({
  tool_name: "t",
  description: "",
  parameters: {},
  target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.openapi.t",
  after_execution: "suspend",
  options: { openapi, ...options } as ToolDefinition["options"],
});

const requestOf = (openapi: JsonObject, args: JsonObject = {}, options: JsonObject = {}, secrets = {}) =>
  createOpenapiPlan(definitionOf({ base_url: "https://api.example.com/v1/", ...openapi }, options)).request({
    arguments: args,
    secrets,
    idempotencyKey: "key-1",
    boundary: "b0",
  });

describe("a request", () => {
  test("[UTP-9-10] of a definition without parameters: the query of a GET, the JSON body of other methods", () => {
    expect(requestOf({ path: "/pets/{id}" }, { id: 7, q: "x y", n: null })).toMatchObject({
      method: "GET",
      url: "https://api.example.com/v1/pets/7?q=x%20y",
      body: undefined,
    });
    expect(requestOf({ path: "/pets/{id}", method: "post" }, { id: 7, q: "x" })).toMatchObject({
      method: "POST",
      url: "https://api.example.com/v1/pets/7",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: '{"q":"x"}',
    });
  });

  test("[HTTP-2-3] only declared parameters are sent, each in its place and under its own name", () => {
    const parameters = [
      { name: "id", in: "path" },
      { name: "id", in: "query", argument: "query_id" },
      { name: "X-Trace", in: "header" },
      { name: "theme", in: "cookie" },
    ];
    const args = { id: "a", query_id: "b", "X-Trace": "t", theme: "dark mode", project_id: "demo" };
    expect(requestOf({ path: "/{id}", parameters, idempotency_header: "Idempotency-Key" }, args)).toEqual({
      url: "https://api.example.com/v1/a?id=b",
      method: "GET",
      headers: {
        accept: "application/json",
        "x-trace": "t",
        cookie: "theme=dark%20mode",
        "idempotency-key": "key-1",
      },
      body: undefined,
      leftOut: [],
    });
  });

  test.each([
    ["bearer", { authorization: "Bearer s3cret" }],
    ["basic", { authorization: "Basic czNjcmV0" }],
    ["header:X-Key", { "x-key": "s3cret" }],
    ["cookie:sid", { cookie: "sid=s3cret" }],
  ])("[HTTP-1-2] the credential as %s stands above a parameter of its name", (scheme, headers) => {
    const parameters = [
      { name: "Authorization", in: "header", argument: "a" },
      { name: "X-Key", in: "header", argument: "a" },
    ];
    const request = requestOf({ parameters, auth: { scheme, env: "KEY" } }, { a: "forged" }, {}, { KEY: "s3cret" });
    expect(request.headers).toMatchObject(headers);
    expect(request.url).not.toContain("s3cret");
  });

  test("[API-JINA-1] [HTTP-2-4] a secret enters an address only where the definition says so", () => {
    const auth = { scheme: "query:key", env: "KEY" };
    expect(() => requestOf({ auth }, {}, {}, { KEY: "s" })).toThrow("secrets_in_url");
    expect(requestOf({ auth }, {}, { secrets_in_url: true }, { KEY: "s" }).url).toBe(
      "https://api.example.com/v1?key=s",
    );
    const envs = { token: "KEY" };
    const hidden = requestOf({}, { token: "s", q: "1" }, { envs });
    expect([hidden.url, hidden.leftOut]).toEqual(["https://api.example.com/v1?q=1", ["token"]]);
    expect(requestOf({ method: "POST" }, { token: "s" }, { envs })).toMatchObject({
      body: '{"token":"s"}',
      leftOut: [],
    });
  });
});

describe("[HTTP-2-2] arguments cannot lead a request elsewhere", () => {
  test.each([
    ["/{a}/{b}", { a: "x", b: ".." }],
    ["/x{a}", { a: "" }],
    ["/{a}", { a: "" }],
    ["/{a}", { a: "../../etc/passwd" }],
    ["/{a}", { a: "x/../y" }],
    ["/{a}", { a: "x/.." }],
    ["/{a}", { a: "./x" }],
    ["/{a}", { a: "..;/" }],
    ["/{a}", { a: "..\\x" }],
    ["/{a}{b}", { a: ".", b: "./x" }],
    ["/.{a}", { a: "." }],
    ["/%2e{a}", { a: "." }],
    ["/{a}", {}],
    ["/a\t/../b", {}],
    ["/a?x=1", {}],
    ["/a#x", {}],
    ["/a\\..\\b", {}],
    ["/../admin", {}],
  ])("%s with %j is refused", (path, args) => {
    expect(() =>
      requestOf(
        {
          path,
          parameters: [
            { name: "a", in: "path" },
            { name: "b", in: "path" },
          ].slice(0, path.includes("{b}") ? 2 : path.includes("{a}") ? 1 : 0),
        },
        args as JsonObject,
      ),
    ).toThrow();
  });

  test.each([
    "//evil.example",
    "/\\evil.example",
    "@evil.example",
    "https://evil.example/",
    "a/b",
    ".../x",
    "..a/b..",
    "%2e%2e",
    "\u2025/",
  ])("a path parameter %j stays below the base address", (value) => {
    const { url } = requestOf({ path: "/{a}", parameters: [{ name: "a", in: "path" }] }, { a: value });
    expect(new URL(url).origin).toBe("https://api.example.com");
    expect(new URL(url).pathname.startsWith("/v1/")).toBe(true);
    expect(new URL(url).pathname.split("/")).toHaveLength(3);
  });

  test("members of prototypes are not arguments", () => {
    const parameters = [
      { name: "toString", in: "query" },
      { name: "__proto__", in: "query" },
    ];
    expect(requestOf({ parameters }, {}).url).toBe("https://api.example.com/v1");
  });
});

describe("[HTTP-2-6] a name that an argument spreads into a request", () => {
  const query = (...names: readonly string[]): JsonObject => ({
    parameters: names.map((name) => ({ name, in: "query" })),
  });
  const deep = {
    parameters: [
      { name: "filter", in: "query", style: "deepObject" },
      { name: "filter[tenant]", in: "query", argument: "tenant" },
    ],
  };
  const piped = {
    parameters: [
      { name: "filter", in: "query", style: "pipeDelimited", explode: true },
      { name: "tenant", in: "query" },
    ],
  };
  const matrix = {
    path: "/items{filter}{tenant}",
    parameters: [
      { name: "filter", in: "path", style: "matrix", explode: true },
      { name: "tenant", in: "path", style: "matrix" },
    ],
  };
  const keyed = { auth: { scheme: "query:key", env: "KEY" } };
  const inForm = (encoding: JsonObject): JsonObject => ({
    method: "POST",
    parameters: [],
    body: { argument: "filter", content_type: "application/x-www-form-urlencoded", encoding },
  });
  const fixed = { args: { fixed: { tenant: "locked" } } };
  const inUrl = { secrets_in_url: true };

  test.each<readonly [string, JsonObject, JsonObject, JsonObject, string]>([
    ["fixed, form", query("tenant", "filter"), { filter: { tenant: "evil" } }, fixed, "tenant"],
    ["fixed, form, the other order", query("filter", "tenant"), { filter: { tenant: "evil" } }, fixed, "tenant"],
    [
      "fixed, another spelling",
      query("tenant", "filter"),
      { filter: { "\uff34ENANT ": "evil" } },
      fixed,
      "\uff34ENANT ",
    ],
    ["fixed, as a list of PHP", query("tenant", "filter"), { filter: { "tenant[]": "evil" } }, fixed, "tenant[]"],
    ["fixed, cut by a zero", query("tenant", "filter"), { filter: { "tenant\0x": "evil" } }, fixed, "tenant\\u0000x"],
    ["fixed, exploded by pipes", piped, { filter: { tenant: "evil" } }, fixed, "tenant"],
    ["fixed, deepObject", deep, { filter: { tenant: "evil" } }, fixed, "filter[tenant]"],
    ["fixed, below deepObject", deep, { filter: { tenant: { x: "evil" } } }, fixed, "filter[tenant][x]"],
    ["fixed, matrix", matrix, { filter: { tenant: "evil" } }, fixed, "tenant"],
    ["fixed, nothing declared", {}, { filter: { tenant: "evil" } }, fixed, "tenant"],
    [
      "fixed, nothing declared, its whole",
      {},
      { "filter[tenant]": "evil", filter: 1 },
      { args: { fixed: { filter: { a: 1 } } } },
      "filter[tenant]",
    ],
    ["fixed, a plain argument of PHP", {}, { "tenant[]": "evil" }, fixed, "tenant[]"],
    [
      "a member of a fixed object",
      {},
      { tenant: "evil" },
      { args: { fixed: { filter: { tenant: "locked" } } } },
      "tenant",
    ],
    ["a variable", {}, { filter: { tenant: "evil" } }, { envs: { tenant: "KEY" }, ...inUrl }, "tenant"],
    [
      "a variable that is left out",
      query("tenant", "filter"),
      { filter: { tenant: "evil" } },
      { envs: { tenant: "KEY" } },
      "tenant",
    ],
    ["answers of people", query("tenant", "filter"), { filter: { tenant: "evil" } }, { input: "tenant" }, "tenant"],
    ["the credential", keyed, { filter: { Key: "evil" } }, inUrl, "Key"],
    ["the credential, as a list of PHP", keyed, { "key[]": "evil" }, inUrl, "key[]"],
    ["another parameter", query("limit", "filter"), { filter: { limit: 1_000 } }, {}, "limit"],
    ["another parameter that is given", {}, { filter: { limit: 1_000 }, limit: 10 }, {}, "limit"],
    [
      "another property of a form",
      inForm({ o: { style: "form" } }),
      { filter: { tenant: "a", o: { tenant: "evil" } } },
      {},
      "tenant",
    ],
  ])("is not that of %s", (_what, openapi, args, options, name) => {
    const own = (options.args as { fixed?: JsonObject } | undefined)?.fixed ?? {};
    const envs = options.envs === undefined ? {} : { tenant: "s3cret" };
    const refused = (): unknown => requestOf(openapi, { ...args, ...own, ...envs }, options, { KEY: "s3cret" });
    expect(refused).toThrow(
      expect.objectContaining({ code: "bad_request", message: expect.stringContaining(`"${name}"`) }),
    );
    expect(refused).toThrow(/the argument (?:filter|tenant|key)/u);
    expect(refused).not.toThrow(/evil|locked|s3cret/u);
  });

  test.each<readonly [string, JsonObject, JsonObject, JsonObject, string]>([
    ["a name of its own", query("tenant", "filter"), { filter: { a: 1 } }, fixed, "/v1?tenant=locked&a=1"],
    [
      "the argument's own name",
      query("tenant", "filter"),
      { filter: { filter: 1 } },
      fixed,
      "/v1?tenant=locked&filter=1",
    ],
    ["beside a fixed member", deep, { filter: { a: 1 } }, fixed, "/v1?filter%5Ba%5D=1&filter%5Btenant%5D=locked"],
    ["a name in another place", { path: "/{tenant}" }, { filter: { tenant: 1 } }, fixed, "/v1/locked?tenant=1"],
    ["a member that is absent", query("tenant", "filter"), { filter: { tenant: null } }, fixed, "/v1?tenant=locked"],
    ["twice by the caller", {}, { a: { x: 1 }, b: { x: 2 } }, {}, "/v1?x=1&x=2"],
  ])("may be %s", (_what, openapi, args, options, url) => {
    const own = (options.args as { fixed?: JsonObject } | undefined)?.fixed ?? {};
    expect(requestOf(openapi, { ...own, ...args }, options).url).toBe(`https://api.example.com${url}`);
  });

  test("costs time in proportion to its length, however deep it is", () => {
    const args = { tenant: "locked", filter: { ["a[".repeat(300_000)]: 1 } };
    expect(requestOf(query("tenant", "filter"), args, fixed).url).toContain("?tenant=locked&a%5Ba");
  });

  test.each([
    ["query:key", "https://api.example.com/v1?q=1&key=s3cret", undefined],
    ["cookie:key", "https://api.example.com/v1?q=1", "key=s3cret"],
  ])(
    "[HTTP-1-2] a plain argument that has the name of the credential %s is not sent, and named",
    (scheme, url, cookie) => {
      const place = scheme.startsWith("query") ? "query" : "cookie";
      const parameters = [
        { name: "Key", in: place, argument: "mine" },
        { name: "q", in: "query" },
      ];
      const request = requestOf({ parameters, auth: { scheme, env: "KEY" } }, { mine: "evil", q: 1 }, inUrl, {
        KEY: "s3cret",
      });
      expect([request.url, request.headers.cookie, request.dropped]).toEqual([url, cookie, ["mine"]]);
    },
  );
});

describe("bodies", () => {
  const bodyOf = (content_type: string, value: unknown, encoding: JsonObject = {}) => {
    const { body, headers } = requestOf(
      { method: "POST", parameters: [], body: { argument: "body", content_type, encoding } },
      { body: value } as JsonObject,
    );
    return { body: body === undefined ? body : Buffer.from(body).toString("utf8"), type: headers["content-type"] };
  };

  test.each([
    ["application/json", [1, "a"], '[1,"a"]'],
    ["application/vnd.api+json", { a: 1 }, '{"a":1}'],
    ["application/x-www-form-urlencoded", { a: "x&y", l: [1, 2], o: { k: 1 } }, "a=x%26y&l=1&l=2&o=%7B%22k%22%3A1%7D"],
    ["text/plain", "hello", "hello"],
    ["application/xml", "<a/>", "<a/>"],
    ["application/octet-stream", { base64: "aGk=" }, "hi"],
    ["image/png", "aGk=", "hi"],
  ])("[HTTP-2-5] %s %j is %s", (type, value, written) => {
    expect(bodyOf(type, value)).toEqual({ body: written, type });
  });

  test("[HTTP-2-5] forms write a property as its encoding says", () => {
    const encoding = { f: { style: "deepObject", explode: true }, l: { style: "pipeDelimited", explode: false } };
    expect(bodyOf("application/x-www-form-urlencoded", { f: { a: 1 }, l: [1, 2] }, encoding).body).toBe(
      "f%5Ba%5D=1&l=1%7C2",
    );
  });

  test("[HTTP-2-5] a multipart form with texts, JSON, lists and files; no name can end its line", () => {
    const value = {
      'na"me\r\nx: y': "v",
      o: { k: 1 },
      l: ["a", "b"],
      f: { base64: "aGk=", filename: 'a"\r\n.txt', content_type: "text/plain\r\nx: y" },
    };
    const { body, type } = bodyOf("multipart/form-data", value, { f: { file: true } });
    expect(type).toBe("multipart/form-data; boundary=b0");
    expect(body).toBe(
      [
        '--b0\r\ncontent-disposition: form-data; name="na%22me%0D%0Ax: y"\r\n\r\nv',
        '--b0\r\ncontent-disposition: form-data; name="o"\r\ncontent-type: application/json\r\n\r\n{"k":1}',
        '--b0\r\ncontent-disposition: form-data; name="l"\r\n\r\na',
        '--b0\r\ncontent-disposition: form-data; name="l"\r\n\r\nb',
        '--b0\r\ncontent-disposition: form-data; name="f"; filename="a%22%0D%0A.txt"\r\ncontent-type: application/octet-stream\r\n\r\nhi',
        "--b0--\r\n",
      ].join("\r\n"),
    );
  });

  test.each([
    ["multipart/form-data", "text"],
    ["application/octet-stream", { base64: "not base64!" }],
    ["application/octet-stream", 7],
  ])("%s refuses %j", (type, value) => {
    expect(() => bodyOf(type, value)).toThrow();
  });
});

describe("options", () => {
  test.each([
    [{ base_url: "not an address" }, "base_url"],
    [{ base_url: "https://a/?q=1" }, "base_url"],
    [{ base_url: "ftp://a" }, "base_url"],
    [{ base_url: "https://eve:pw@a" }, "base_url"],
    [{ base_url: "https://a", path: "/a?b=1" }, "path"],
    [{ base_url: "https://a", path: "/a/../b" }, "path"],
    [{ base_url: "https://a", method: "TRACE" }, "method"],
    [{ base_url: "https://a", auth: { scheme: "query:key", env: "K" } }, "secrets_in_url"],
    [{ base_url: "https://a", odd: 1 }, "odd"],
    [{ base_url: "https://a", auth: { scheme: "digest", env: "K" } }, "auth.scheme"],
    [{ base_url: "https://a", auth: { scheme: "header:a b", env: "K" } }, "auth.scheme"],
  ])("[UTP-9-1] %j is refused", (openapi, why) => {
    expect(() => createOpenapiPlan(definitionOf(openapi))).toThrow(why);
  });

  test.each([
    [{ timeout_s: 3, timeout: 4 }, {}, 3_000],
    [{ timeout_s: 0, timeout: 4 }, {}, 4_000],
    [{}, { timeout_s: -1, timeout: 5 }, 5_000],
    [{}, {}, undefined],
  ])("[UTP-9-12] %j and %j limit a request to %s ms", (openapi, options, limit) => {
    expect(createOpenapiPlan(definitionOf({ base_url: "https://a", ...openapi }, options)).timeoutMs).toBe(limit);
  });
});
