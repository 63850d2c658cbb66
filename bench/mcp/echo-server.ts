// A bare MCP server of the official SDK: one tool that gives back what it got. On stdio, or over HTTP when a port is asked for.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const build = (): McpServer => {
  const server = new McpServer({ name: "bare", version: "1" });
  server.registerTool("echo", { description: "Echo", inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  return server;
};

if (process.argv[2] === "http") {
  const handler = createMcpHandler(build);
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const headers = new Headers(incoming.headers as Record<string, string>);
    const body = Buffer.concat(chunks);
    const { method = "GET" } = incoming;
    const request = new Request("http://127.0.0.1/mcp", { method, headers, ...(method === "GET" ? {} : { body }) });
    const response = await handler.fetch(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  };
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
} else serveStdio(build);
