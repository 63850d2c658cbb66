// MCP servers as tools; apart from the rest, because the SDK of the protocol is loaded only where a server is configured.

export { type DefinedMcpTool, defineMcpTools, type RefusedMcpTool } from "./mcp-definitions.ts";
export { createMcpExecutor } from "./mcp-executor.ts";
export { createMcpHttp } from "./mcp-http.ts";
export { createMcpLink, type McpLink, type McpTransport } from "./mcp-link.ts";
export { createMcpPipe } from "./mcp-pipe.ts";
export type { ElicitationPolicy } from "./plan-elicitation.ts";
