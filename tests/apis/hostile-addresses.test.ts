// API tools against hostile addresses: as the base address of a definition, as the target of a redirect, and behind names whose
// answers change. The victim is a real server on loopback; it must never see a connection. The allowed server works throughout.

import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { createHttpExecutor } from "@toolplane/bridges";
import { parseAllowedOrigin } from "@toolplane/egress/policy";
import type { JsonObject, ToolDefinition } from "@toolplane/protocol";
import { type ExecuteContext, silentLog, type ToolCall } from "@toolplane/sdk";
import { createApiEgress } from "@toolplane/server/internal";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

let [victim, allowed]: Server[] = [];
let [victimPort, allowedPort, connections] = [0, 0, 0];
let asked: { readonly url: string; readonly authorization: string | undefined }[] = [];
let location = "";
/** What names resolve to, one answer after the other; the last one stays. */
let names: Record<string, readonly string[]> = {};

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
};

beforeAll(async () => {
  victim = createServer((_request, response) => response.end("secrets")).on("connection", () => {
    connections += 1;
  });
  allowed = createServer((request, response) => {
    asked.push({ url: request.url ?? "", authorization: request.headers.authorization });
    if (request.url === "/go") response.writeHead(Number(request.headers["x-status"] ?? 302), { location }).end();
    else response.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}');
  });
  [victimPort, allowedPort] = [await listen(victim), await listen(allowed)];
});
afterAll(async () => {
  for (const server of [victim, allowed]) {
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
  }
});
beforeEach(() => {
  [connections, asked, location, names] = [0, [], "", {}];
});

const context = {
  signal: new AbortController().signal,
  emit: () => undefined,
  log: silentLog,
  idempotencyKey: "k",
  secrets: { KEY: "s3cret" },
  scrub: (text: string) => text,
} as unknown as ExecuteContext;

/** No packet leaves the machine: a public address does not answer. */
const dial: NonNullable<Parameters<typeof createApiEgress>[1]>["dial"] = ({ connection, checked }) =>
  new Promise((dialed, failed) => {
    const [{ address } = { address: "" }] = checked;
    if (!address.startsWith("127.")) return failed(Object.assign(new TypeError("away"), { code: "ECONNREFUSED" }));
    const socket = connect({ host: address, port: Number(connection.port) }, () =>
      dialed({ socket, reached: socket.remoteAddress }),
    );
    socket.on("error", failed);
  });

/** The code of the failure, or the result. */
const run = async (openapi: JsonObject, args: JsonObject = {}): Promise<unknown> => {
  const resolve = async (host: string): Promise<readonly string[]> => {
    const [answer = "", ...rest] = names[host] ?? [];
    if (rest.length > 0) names[host] = rest;
    return answer === "" ? [] : answer.split(" ");
  };
  const egress = createApiEgress([parseAllowedOrigin(`http://127.0.0.1:${allowedPort}`)], { resolve, dial });
  const executor = createHttpExecutor({ within: egress.within, now: Date.now, token: () => "b" });
  const definition = { tool_name: "t", options: { openapi } } as unknown as ToolDefinition;
  const call = { toolName: "t", toolCallId: "c", arguments: args, definition } as unknown as ToolCall;
  try {
    return await executor.execute(call, context);
  } catch (error) {
    return (error as { readonly code: string }).code;
  } finally {
    await egress.close();
  }
};

/** Hosts of this machine, its networks and its cloud, in the spellings that parsers accept. */
const HOSTS = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "0177.0.0.1",
  "017700000001",
  "127.0.0.1.",
  "127.255.255.254",
  "%31%32%37.0.0.1",
  "１２７.0.0.1",
  "127。0。0。1",
  "①②⑦.0.0.1",
  "0",
  "0.0.0.0",
  "localhost",
  "LOCALHOST",
  "localhost.",
  "app.localhost",
  "[::1]",
  "[::]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[2002:7f00:1::]",
  "10.0.0.1",
  "10.255.255.255",
  "172.16.0.1",
  "172.31.255.254",
  "192.168.0.1",
  "100.64.0.1",
  "169.254.169.254",
  "169.254.170.2",
  "0xa9fea9fe",
  "2852039166",
  "[::ffff:169.254.169.254]",
  "[fd00:ec2::254]",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "240.0.0.1",
  "192.0.2.1",
  "203.0.113.9",
  "[fe80::1]",
  "[fc00::1]",
  "[fd12:3456::1]",
  "[ff02::1]",
  "[2001:db8::1]",
] as const;

describe("[SEC-13-1] [API-OPENAPI-4] the base address of a definition", () => {
  test.each(HOSTS.flatMap((host) => [`https://${host}:PORT`, `http://${host}:PORT`]))(
    "%s is refused",
    async (address) => {
      const base_url = address.replace("PORT", String(victimPort));
      // Also when the definition itself allows every spelling of it: only the operator can.
      expect(await run({ base_url, path: "/x" })).toMatch(/^(?:auth_failed|bad_request)$/);
      expect(connections).toBe(0);
    },
  );

  test.each([
    ["https://user:pw@api.example.com/"],
    ["https://api.example.com:22/"],
    ["http://api.example.com/"],
    ["ftp://api.example.com/"],
    ["file:///etc/passwd"],
    ["gopher://127.0.0.1/"],
    ["https://api.example.com/?x=1"],
    ["//127.0.0.1/"],
    ["https:///"],
  ])("%s is refused", async (base_url) => {
    names = { "api.example.com": ["93.184.216.34"] };
    expect(await run({ base_url, path: "/x" })).toMatch(/^(?:auth_failed|bad_request)$/);
  });

  test("a backslash does not hide the host: the name before it is asked", async () => {
    names = { "api.example.com": ["93.184.216.34"] };
    expect(await run({ base_url: `https://api.example.com\\@127.0.0.1:${victimPort}/`, path: "/x" })).toBe(
      "upstream_unavailable",
    );
    expect(connections).toBe(0);
  });

  test("a host outside of allow_hosts is refused, also when its address is allowed", async () => {
    const base_url = `http://127.0.0.1:${allowedPort}`;
    expect(await run({ base_url, path: "/x", allow_hosts: ["api.example.com"] })).toBe("auth_failed");
    expect(asked).toEqual([]);
    expect(await run({ base_url, path: "/x" })).toMatchObject({ ok: true });
  });
});

describe("[SEC-6-5] a redirect of an allowed server", () => {
  const go = (more: JsonObject = {}) =>
    run({ base_url: `http://127.0.0.1:${allowedPort}`, path: "/go", auth: { scheme: "bearer", env: "KEY" }, ...more });

  test.each([
    ...HOSTS.filter((host) => /^[ -~]+$/u.test(host)).map((host) => `http://${host}:PORT/`),
    "//127.0.0.1:PORT/",
    "https://127.0.0.1:PORT/",
    "http://user:pw@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT@api.example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/plain,hi",
    "http://",
    "http://[::1",
  ])("to %s is not followed", async (target) => {
    location = target.replace("PORT", String(victimPort));
    expect(await go({ allow_hosts: ["127.0.0.1", "localhost", "169.254.169.254"] })).toMatch(
      /^(?:auth_failed|bad_request|upstream_unavailable)$/,
    );
    expect(connections).toBe(0);
    expect(asked).toHaveLength(1);
  });

  test.each([301, 302, 303, 307, 308])("with %i to its own path is followed with the credential", async (status) => {
    location = "/there";
    expect(await go({ headers: { "x-status": status } })).toMatchObject({ ok: true });
    expect(asked.map(({ url, authorization }) => [url, authorization])).toEqual([
      ["/go", "Bearer s3cret"],
      ["/there", "Bearer s3cret"],
    ]);
  });

  test("that never ends is given up", async () => {
    location = "/go";
    expect(await go()).toBe("upstream_unavailable");
    expect(asked.length).toBeLessThan(10);
  });
});

describe("[SEC-6-4] a name", () => {
  const call = (port = victimPort) =>
    run({ base_url: `https://api.example.com${port === 443 ? "" : `:${port}`}`, path: "/x" });

  test.each([
    ["a local address", "127.0.0.1"],
    ["a public and a local address", "93.184.216.34 127.0.0.1"],
    ["the metadata service", "169.254.169.254"],
    ["a local address in IPv6", "::ffff:127.0.0.1"],
    ["a private address", "10.1.2.3"],
    ["nothing", ""],
    ["no address", "evil"],
  ])("that resolves to %s is refused", async (_what, answer) => {
    names = { "api.example.com": [answer] };
    expect(await call(443)).toMatch(/^(?:auth_failed|upstream_unavailable)$/);
    expect(connections).toBe(0);
  });

  test("whose answer changes between the check and the connection reaches what was checked, or nothing", async () => {
    names = { "api.example.com": ["10.1.2.3", "127.0.0.1", "127.0.0.1"] };
    expect(await call(443)).toBe("auth_failed");
    names = { "api.example.com": ["127.0.0.1", "93.184.216.34"] };
    expect(await call(443)).toBe("auth_failed");
    expect(connections).toBe(0);
  });
});

test("[HTTP-2-2] a value with a line end in a header is refused before anything is sent", async () => {
  const base_url = `http://127.0.0.1:${allowedPort}`;
  const parameters = [{ name: "X-Name", in: "header" }];
  for (const value of ["a\r\nx: y", "a\nb", "\u0000", "\u2028", "ü"])
    expect(await run({ base_url, path: "/x", parameters }, { "X-Name": value })).toBe("bad_request");
  expect(await run({ base_url, path: "/x", parameters: [{ name: "Host", in: "header" }] }, { Host: "evil" })).toBe(
    "bad_request",
  );
  expect(asked).toEqual([]);
});
