// Requests of a modern client, as they go over the wire.

import type { McpStack } from "./mcp-stack.ts";

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
};

interface Rpc {
  readonly status: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

export type RpcCall = (
  method: string,
  params: Record<string, unknown>,
  options?: { readonly capabilities?: object; readonly token?: string; readonly more?: object },
) => Promise<Rpc>;

export const rpcTo =
  ({ url, http }: McpStack): RpcCall =>
  async (method, params, { capabilities = {}, token = http.admin, more = {} } = {}) => {
    const name = params.name ?? params.taskId;
    const response = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...(name === undefined ? {} : { "mcp-name": String(name) }),
        ...more,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method,
        params: { ...params, _meta: { ...ENVELOPE, "io.modelcontextprotocol/clientCapabilities": capabilities } },
      }),
    });
    return { ...((await response.json()) as Omit<Rpc, "status">), status: response.status };
  };
