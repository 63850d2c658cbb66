// A client that closes its connection is not a failure of the server: the log has no error about it.

import { connect, type Socket } from "node:net";
import type { Log } from "@toolplane/engine";
import { listen } from "@toolplane/server/internal";
import { eventually } from "@toolplane/testkit";
import { afterEach, expect, test, vi } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

afterEach(() => vi.restoreAllMocks());

const collectLog = () => {
  const lines: string[] = [];
  const hear =
    (level: string) =>
    (message: string, fields: object = {}): void =>
      void lines.push(`${level}: ${message} ${JSON.stringify(fields)}`);
  const log: Log = { info: hear("info"), warn: hear("warn"), error: hear("error") };
  return { log, lines };
};

const open = (address: string): Promise<Socket> =>
  new Promise((resolve) => {
    const [host = "", port = ""] = address.split(":");
    const socket = connect({ host, port: Number(port) }, () => resolve(socket));
    socket.on("error", () => {});
  });

const head = (http: HttpStack, method: string, path: string, length: number, accept = "*/*"): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: ${accept}\r\nAuthorization: Bearer ${http.admin}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

const CLAIM = JSON.stringify({ wait_seconds: 60 });
const CALL = JSON.stringify({ tool_name: "safe", wait_seconds: 60 });
const BATCH = `[${CALL},${CALL}]`;

/** What the client sends before it goes, for each way in which the server may then be at work. */
const CASES: Readonly<Record<string, (http: HttpStack) => string>> = {
  "in the middle of a small body": (http) => `${head(http, "POST", "/projects/demo/calls", 100)}{"tool_name`,
  "in the middle of a large body": (http) => head(http, "POST", "/projects/demo/calls", 500_000) + "x".repeat(100_000),
  "in the middle of an upload": (http) => `${head(http, "POST", "/projects/demo/tools", 100)}{"tool_name`,
  "while it waits for work": (http) =>
    head(http, "POST", "/projects/demo/tool-services/test/claim", CLAIM.length) + CLAIM,
  "while it waits for a result": (http) => head(http, "POST", "/projects/demo/calls", CALL.length) + CALL,
  "while it waits for the calls of a batch": (http) =>
    head(http, "POST", "/projects/demo/calls/batch", BATCH.length, "application/x-ndjson") + BATCH,
  "while it reads events": (http) => head(http, "GET", "/projects/demo/events", 0),
};

test.each(Object.keys(CASES).flatMap((name) => [[name, "closed"] as const, [name, "reset"] as const]))(
  "[SEC-client-gone] a connection that ends %s (%s) is not logged as an error",
  async (name, how) => {
    const { log, lines } = collectLog();
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    await using http = await startHttpStack({}, { log });
    const answered: Promise<unknown>[] = [];
    const fetch = vi.spyOn(http.app, "fetch");
    const seen = (): number => fetch.mock.results.length;
    fetch.mockName("app");
    const server = await listen({ app: http.app, host: "127.0.0.1", port: 0 });
    const socket = await open(server.address);
    const sent = CASES[name]?.(http) ?? "";
    socket.write(sent);
    await eventually(() => seen() > 0);
    for (const { value } of fetch.mock.results) answered.push(Promise.resolve(value).catch(() => {}));
    if (name.startsWith("while")) await http.send("GET", "/projects/demo");
    if (how === "closed") socket.destroy();
    else socket.resetAndDestroy();
    await Promise.all(answered);
    await server.close(5_000);
    expect([lines, printed.mock.calls]).toEqual([[], []]);
  },
);
