// What the handlers of one MCP request work with: the engine and the caller's rights, as a route gets them, and what the client said
// about itself.

import type { RouteCall } from "../http/route.ts";

export interface McpAsk
  extends Pick<RouteCall<unknown, unknown>, "engine" | "toolHosts" | "caller" | "own" | "log" | "inLine"> {
  readonly projectId: string;
  /** Which tools the address asks for. */
  readonly isWanted: (toolName: string) => boolean;
  /** Agents that the address offers as a tool; none unless it names them. */
  readonly agents: readonly string[];
  /** Ends all waiting: the client has gone, its token has ended, or the server drains. */
  readonly signal: AbortSignal;
  /** The client has gone. */
  readonly gone: AbortSignal;
  /** For as long as a call is waited for: the request keeps its place among those of its token, also when its client has gone. */
  readonly waits: () => Disposable;
}

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

export interface McpClient {
  /** `modern`: a revision from 2026-07-28 on, in which each request says everything about its client. */
  readonly era: "legacy" | "modern";
  readonly capabilities: Readonly<Record<string, unknown>> | undefined;
}

export const canTask = ({ era, capabilities }: McpClient): boolean => {
  const extensions = capabilities?.extensions;
  return (
    era === "modern" &&
    typeof extensions === "object" &&
    extensions !== null &&
    Object.hasOwn(extensions, TASKS_EXTENSION)
  );
};
