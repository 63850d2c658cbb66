// Foreign tools become ordinary tools: NDJSON tool hosts, HTTP operations, MCP servers.

// hosts
export { createToolHost } from "./hosts/create-host.ts";
export type {
  ExecuteResult,
  HostDescription,
  HostOptions,
  HostPorts,
  ToolHost,
} from "./hosts/host.ts";
export { createHostLimits, DEFAULT_HOST_LIMITS, type HostLimits } from "./hosts/host-limits.ts";
export { planHostEnv } from "./hosts/launch.ts";
export { withoutHostName } from "./hosts/plan-failure.ts";

export { createRetrySafe } from "./hosts/retry-safe.ts";

// hosts as tools
export {
  type DefinedHostTool,
  defineHostTools,
  hostTarget,
} from "./hosts-as-tools/host-definitions.ts";
export { createHostExecutor } from "./hosts-as-tools/host-executor.ts";

// http
export { checkHttpDefinition, createHttpExecutor } from "./http/http-executor.ts";
export { planAnswer } from "./http/plan-answer.ts";
export { parseAuthScheme } from "./http/plan-auth.ts";
export { readAnswer } from "./http/read-answer.ts";
export { mcpTarget } from "./mcp/mcp-definitions.ts";
