// @toolplane/sdk/host: the child side of tool hosts, for authors who want its types or run a host themselves.

export { findPlugin } from "./host/load-plugin.ts";
export type {
  EmitPart,
  HostOutcome,
  HostPlugin,
  HostToolCall,
  HostToolSchema,
  WrappedToolSchema,
} from "./host/plugin.ts";
export { type RunHostOptions, runHost } from "./host/run-host.ts";
export { DEFAULT_DRAIN_MS, type Host, type HostOptions, serveHost } from "./host/serve-host.ts";
export { createToolsPlugin } from "./host/tools-plugin.ts";
export { createLineSplitter, type LineSplitter } from "./lines/line-splitter.ts";
