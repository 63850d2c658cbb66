// An MCP server in the list of hosts: what runs, what does not and why.

import { mcpTarget } from "@toolplane/bridges";
import type { HostView } from "../hosts/host-life.ts";
import type { McpSetting } from "./mcp-settings.ts";

/** A server that another process runs. Arguments and the path of an address are left out, because they may hold secrets. */
export const planMcpView = ({ name, prefix, place }: McpSetting): HostView => ({
  kind: "mcp",
  setting: { name, prefix, target: mcpTarget(name), session: "none" },
  program: "command" in place ? place.command[0] : new URL(place.url).origin,
  phase: "elsewhere",
  problem: undefined,
  description: undefined,
  tools: [],
  refused: [],
  host: undefined,
});
