// The API on a socket with tools behind it, for MCP clients that are programs of their own.

import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@toolplane/engine";
import { defineTool, serveTools, silentLog, type Tool } from "@toolplane/sdk";
import { createEngineGateway, listen, NO_OFFSET } from "@toolplane/server/internal";
import { type HttpStack, startHttpStack } from "../http/http-stack.ts";

export interface McpStack extends AsyncDisposable {
  readonly http: HttpStack;
  /** `http://127.0.0.1:port/mcp/demo` */
  readonly url: string;
  readonly origin: string;
}

const TARGET = "mcp_test";

export const startMcpStack = async (
  tools: readonly Tool[] | ((http: HttpStack) => readonly Tool[]),
  limits: Parameters<typeof startHttpStack>[1] = {},
): Promise<McpStack> => {
  // Answers of MCP are JSON-RPC: their form is checked by the suite of the protocol, not by the description of the API.
  const http = await startHttpStack({ tools: [], leaseSeconds: 3 }, limits, false);
  const { engine, projectId } = http.t;
  const served = await listen({ app: http.app, host: "127.0.0.1", port: 0 });
  const gateway = createEngineGateway({
    engine,
    projectId,
    actorId: `tool.${TARGET}`,
    holder: "the tools of the test",
    clock: systemClock,
    random: Math.random,
    offset: NO_OFFSET,
  });
  const list = typeof tools === "function" ? tools(http) : tools;
  const serving = await serveTools(list, {
    target: TARGET,
    gateway,
    handleSignals: false,
    log: silentLog,
    concurrency: 64,
  });
  const origin = `http://${served.address}`;
  return {
    http,
    origin,
    url: `${origin}/mcp/${projectId}`,
    async [Symbol.asyncDispose]() {
      await serving.stop({ drainMs: 0 });
      await served.close(0);
      await http[Symbol.asyncDispose]();
    },
  };
};

/** Adds the token to every request, for clients that send none; everything else is passed on as it came. */
export const startTokenProxy = async (
  origin: string,
  token: string,
): Promise<{ readonly origin: string } & AsyncDisposable> => {
  const { hostname, port } = new URL(origin);
  const server = createServer((incoming, outgoing) => {
    const passed = request(
      {
        hostname,
        port,
        path: incoming.url,
        method: incoming.method,
        headers: { ...incoming.headers, authorization: `Bearer ${token}` },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: own } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${own}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

export const echo = defineTool({
  name: "echo",
  description: "Gives back what it got",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const,
  retry: "safe",
  run: ({ text }) => ({ said: text }),
});
