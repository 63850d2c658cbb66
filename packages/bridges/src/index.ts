// Foreign tools become ordinary tools: NDJSON tool hosts.

// hosts
export { createToolHost } from "./hosts/create-host.ts";
export {
  type AskOptions,
  DIAGNOSTICS,
  type DiagnosticKind,
  type ExecuteRequest,
  type ExecuteResult,
  type HostDescription,
  type HostDiagnostic,
  type HostOptions,
  type HostOutcome,
  type HostPorts,
  type HostProcessState,
  type HostProcessStatus,
  type HostSandbox,
  type HostStatus,
  type ToolHost,
} from "./hosts/host.ts";
export { createHostLimits, DEFAULT_HOST_LIMITS, type HostLimits } from "./hosts/host-limits.ts";
export { withoutHostName } from "./hosts/plan-failure.ts";
export { systemTimers, type Timers } from "./hosts/timers.ts";

// hosts as tools
export {
  type DefinedHostTool,
  type DefinedHostTools,
  type DefineMeans,
  defineHostTools,
  type HostToolsOptions,
  hostTarget,
  type OfferedTools,
} from "./hosts-as-tools/host-definitions.ts";
export { createHostExecutor, type HostExecutorOptions } from "./hosts-as-tools/host-executor.ts";
