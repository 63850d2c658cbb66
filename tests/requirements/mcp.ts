// MCP in both directions: servers as tools, tools as a server.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "API-MCP-1", source: "interfaces 3", part: "mcp", text: "A tool of an MCP server becomes an ordinary tool named server__tool." },
  { id: "API-MCP-2", source: "interfaces 3", part: "mcp", text: "MCP read-only and idempotent hints make a tool safe to retry only when the configuration trusts that server." },
  { id: "API-MCP-3", source: "interfaces 3", part: "mcp", text: "MCP imports are pinned: a changed definition is refused with definition_changed." },
  { id: "API-MCP-4", source: "interfaces 3", part: "mcp", text: "The project's tools are MCP tools at /mcp/{project} over streamable HTTP, and over stdio by toolplane mcp." },
  { id: "API-MCP-5", source: "interfaces 3", part: "mcp", text: "The same call through UTP, HTTP and MCP is executed once and gives the same result card." },
  { id: "API-MCP-6", source: "interfaces 3", part: "mcp", text: "An MCP progress notification extends nothing but the lease's heartbeat, and cancellation reaches the server." },
  { id: "API-MCP-7", source: "interfaces 3", part: "mcp", text: "The identity of an MCP call is its body's tool name; a header that says otherwise is refused." },
  { id: "API-MCP-12", source: "issue 12", part: "mcp", text: "A request that was made with a browser's session ends with the session." },
  { id: "API-MCP-13", source: "issue 12", part: "mcp", text: "A call that a client of a session leaves behind keeps its place among the open requests of its token until it ends." },
  { id: "API-MCP-9", source: "issue 21", part: "mcp", text: "A question of an MCP server to a person is refused or declined in words, unless the entry of the server lets the defaults of its form answer it." },
  { id: "API-MCP-8", source: "interfaces 3", part: "mcp", text: "A caller's token is never passed on to an MCP server." },
] as const satisfies readonly Rule[];
