// Starts the MCP servers of the configuration. The SDK of the protocol is loaded here and not before: a plane without MCP servers
// does not pay for it.

import type { McpServers, StartMcpOptions } from "./mcp-servers.ts";

export const runMcpServers = async (options: StartMcpOptions): Promise<McpServers> => {
  const { startMcpServers } = await import("./mcp-servers.ts");
  return startMcpServers(options);
};
