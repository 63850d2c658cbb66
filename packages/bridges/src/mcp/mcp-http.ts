// The transport to an MCP server at an address. Every request goes through the `fetch` that is given, which is the egress policy's.

import { StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";

export interface McpHttpOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
}

export const createMcpHttp = ({ url, headers, fetch }: McpHttpOptions): Transport =>
  new StreamableHTTPClientTransport(url, { fetch, requestInit: { headers } });
