// All MCP servers of the configuration, in a process with the role tools.

import { hostname } from "node:os";
import { mcpTarget } from "@toolplane/bridges";
import type { Engine } from "@toolplane/engine";
import type { Guard } from "@toolplane/processes";
import type { Clock, Log, Random } from "@toolplane/sdk";
import type { Settings } from "../config/settings.ts";
import type { ClockOffset } from "../gateway/clock-offset.ts";
import { createEngineGateway } from "../gateway/engine-gateway.ts";
import type { HostProblem, ToolHosts } from "../hosts/tool-hosts.ts";
import { createEnvSource } from "../secrets/env-grants.ts";
import { createMcpLife, type McpLife } from "./mcp-life.ts";
import { createMcpEgress } from "./open-transport.ts";

export interface McpServers {
  problemOf(projectId: string, target: string): HostProblem | undefined;
  /** One list of hosts and MCP servers, and one answer to why a call is not taken, whosever its target is. */
  beside(toolHosts: ToolHosts): ToolHosts;
  readonly tried: Promise<void>;
  stop(drainMs: number): Promise<void>;
}

export interface StartMcpOptions {
  readonly settings: Pick<Settings, "mcpServers" | "project" | "egressAllow" | "envGrants">;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly offset: ClockOffset;
  readonly pid: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly guard: Guard | undefined;
}

const problemIn = (lives: ReadonlyMap<string, McpLife>, target: string): HostProblem | undefined => {
  const problem = lives.get(target)?.problem();
  return (
    problem && {
      why: problem.message,
      todo: "put the server right: its program, its address, or its entry in toolplane.yaml",
    }
  );
};

/** Starts them all, and waits for none. */
export const startMcpServers = (options: StartMcpOptions): McpServers => {
  const { settings, engine, clock, random, offset, pid, env } = options;
  const { project: projectId } = settings;
  const egress = createMcpEgress(settings.egressAllow);
  const envSource = createEnvSource(settings.envGrants, env);
  const lives = new Map(
    settings.mcpServers.map((setting) => {
      const target = mcpTarget(setting.name);
      const gateway = createEngineGateway({
        engine,
        projectId,
        actorId: `tool.${target}`,
        holder: `MCP server ${setting.name} (process ${pid} on ${hostname()})`,
        clock,
        random,
        offset,
      });
      return [target, createMcpLife({ ...options, projectId, setting, gateway, egress, envSource })] as const;
    }),
  );
  const problemOf = (project: string, target: string): HostProblem | undefined =>
    project === projectId ? problemIn(lives, target) : undefined;
  return {
    problemOf,
    beside: (toolHosts) => ({
      ...toolHosts,
      list: (project) => [
        ...toolHosts.list(project),
        ...(project === projectId ? [...lives.values()].map((life) => life.view()) : []),
      ],
      problemOf: (project, target) => toolHosts.problemOf(project, target) ?? problemOf(project, target),
    }),
    tried: Promise.all([...lives.values()].map(({ tried }) => tried)).then(() => undefined),
    async stop(drainMs) {
      await Promise.all([...lives.values()].map((life) => life.stop(drainMs)));
      await egress.close();
    },
  };
};
