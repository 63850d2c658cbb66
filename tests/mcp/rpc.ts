// Requests of a modern client, as they go over the wire.

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

/** `url`: the project's place for MCP; `token`: of a request that names none. */
export const rpcTo =
  ({ url, token: usual }: { readonly url: string; readonly token: string }): RpcCall =>
  async (method, params, { capabilities = {}, token = usual, more = {} } = {}) => {
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
