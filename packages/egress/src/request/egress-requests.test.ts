import { describe, expect, test } from "vitest";
import { allow, createNames, failureOf, startServer } from "../../test/servers.ts";
import { createEgress } from "./egress.ts";

describe("what may not be asked", () => {
  test("[SEC-16-G1] without a policy nothing may be asked at all", async () => {
    const names = createNames({ "api.openai.com": ["93.184.216.34"] });
    const egress = createEgress({ resolve: names.resolve });
    for (const address of ["https://api.openai.com/", "https://127.0.0.1/", "http://localhost/"])
      expect(await failureOf(egress.fetch(address))).toMatchObject({ code: "auth_failed" });
    expect(names.asked).toEqual([]);
  });

  test.each([
    ["[SEC-6-1] plain http", "http://api.example.com/", "auth_failed", 'egress.allow: ["http://api.example.com"]'],
    ["[SEC-6-1] a port", "https://api.example.com:8443/", "auth_failed", "the port 8443 is not allowed"],
    ["[SEC-6-2] another host", "https://evil.example/", "auth_failed", "not in the list of allowed hosts"],
    ["[SEC-6-2] a longer name", "https://api.example.com.evil.example/", "auth_failed", "allowed hosts"],
    ["[SEC-6-2] a name that ends alike", "https://evilexample.org/", "auth_failed", "allowed hosts"],
    ["[SEC-6-2] the name above a pattern", "https://example.org/", "auth_failed", "allowed hosts"],
    ["[SEC-6-3] a user", "https://me@api.example.com/", "bad_request", "user or a password"],
    ["[SEC-6-3] a password", "https://:hunter2@api.example.com/", "bad_request", "user or a password"],
    ["[SEC-6-1] a file", "file:///etc/passwd", "bad_request", "not an http or https address"],
    ["[SEC-6-1] data", "data:text/plain,hello", "bad_request", "not an http or https address"],
    ["[SEC-6-3] two dots", "https://api.example.com../", "bad_request", "not a name"],
    ["[SEC-6-1] no address", "api.example.com", "bad_request", "not an http or https address"],
  ])("%s", async (_what, address, code, words) => {
    const names = createNames({});
    const egress = createEgress({ hosts: ["api.example.com", "*.example.org"], resolve: names.resolve });
    const failure = await failureOf(egress.fetch(address));
    expect(failure).toMatchObject({ code, message: expect.stringContaining(words) });
    expect((failure as Error).message).not.toContain("hunter2");
    expect(names.asked).toEqual([]);
  });

  test("[SEC-6-3] a full name with its dot is the same name", async () => {
    const names = createNames({});
    const egress = createEgress({ hosts: ["api.example.com"], resolve: names.resolve });
    expect(await failureOf(egress.fetch("https://API.example.com./x"))).toMatchObject({ code: "upstream_unavailable" });
    expect(names.asked).toEqual(["api.example.com"]);
  });
});

describe("a request", () => {
  test.each([
    ["a line end in a value", { headers: { "x-a": "1\r\nx-b: canary" } }, "x-a"],
    ["a line end after a value", { headers: { "x-a": "canary\n" } }, "x-a"],
    ["a line end in a name", { headers: [["x-a\r\nx-b", "canary"]] }, "name of a request header"],
    ["a NUL", { headers: { "x-a": "canary\0" } }, "x-a"],
    ["letters beyond ASCII", { headers: { "x-a": "canaré" } }, "x-a"],
    ["the site it is for", { headers: { Host: "canary" } }, "host"],
    ["how long it is", { headers: { "Content-Length": "1" } }, "content-length"],
    ["how it is cut", { headers: { "transfer-encoding": "chunked" } }, "transfer-encoding"],
    ["a proxy's password", { headers: { "proxy-authorization": "canary" } }, "proxy-authorization"],
    ["a tunnel", { method: "CONNECT" }, "method"],
    ["an echo", { method: "TRACE" }, "method"],
    ["no method", { method: "GET / HTTP/1.1\r\n" }, "method"],
  ] as const)("[SEC-2-G1] that sets %s is refused before anything is resolved", async (_what, init, words) => {
    const names = createNames({});
    const egress = createEgress({ hosts: "any", resolve: names.resolve });
    const failure = await failureOf(egress.fetch("https://api.example.com/", init as unknown as RequestInit));
    expect(failure).toMatchObject({ code: "bad_request", message: expect.stringContaining(words) });
    expect((failure as Error).message).not.toContain("canar");
    expect(names.asked).toEqual([]);
  });

  test("[SEC-6-6] a name nobody knows and a port nobody listens at are upstream_unavailable, with the host", async () => {
    const server = await startServer(() => undefined);
    const gone = `http://127.0.0.1:${server.port === 1 ? 2 : 1}`;
    const resolve = async (): Promise<never> => {
      throw Object.assign(new TypeError("no such name"), { code: "ENOTFOUND" });
    };
    const egress = createEgress({ hosts: "any", allow: allow(gone), resolve });
    expect(await failureOf(egress.fetch(gone))).toMatchObject({ code: "upstream_unavailable" });
    expect(await failureOf(egress.fetch("https://nobody.example"))).toMatchObject({
      code: "upstream_unavailable",
      message: "the name nobody.example cannot be resolved",
    });
    await egress.close();
  });
});
