// All hosts of the configuration, and what is known of them. Without the `tools` role they are only listed: another
// process runs them.

import { hostname } from "node:os";
import { withoutHostName } from "@toolplane/bridges";
import type { Engine } from "@toolplane/engine";
import type { Clock, Log, Random } from "@toolplane/sdk";
import type { ClockOffset } from "../gateway/clock-offset.ts";
import { createEngineGateway } from "../gateway/engine-gateway.ts";
import { createHostLife, type HostLife, type HostLifeOptions, type HostView } from "./host-life.ts";
import type { HostSetting } from "./host-settings.ts";

export interface HostProblem {
  readonly why: string;
  readonly todo: string;
}

export interface ToolHosts {
  /** The hosts of a project. */
  list(projectId: string): readonly HostView[];
  /** Why the calls of a target are not taken, if the target is a host's and the host is not ready. */
  problemOf(projectId: string, target: string): HostProblem | undefined;
  /** Resolves when each host has been tried once, with or without success; failed hosts are tried again in the background. */
  readonly tried: Promise<void>;
  stop(drainMs: number): Promise<void>;
}

export const NO_TOOL_HOSTS: ToolHosts = {
  list: () => [],
  problemOf: () => undefined,
  tried: Promise.resolve(),
  stop: async () => undefined,
};

export interface StartHostsOptions extends Pick<HostLifeOptions, "env" | "guard" | "closed"> {
  readonly settings: readonly HostSetting[];
  readonly projectId: string;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly offset: ClockOffset;
  readonly pid: number;
}

const planProblem = (projectId: string, { setting: { name }, phase, problem }: HostView): HostProblem | undefined => {
  if (phase === "ready" || phase === "elsewhere") return undefined;
  if (problem === undefined)
    return {
      why: `host ${name} is starting and has not said yet what it offers`,
      todo: `wait a moment; if it stays so, GET /projects/${projectId}/hosts has the last words of host ${name}`,
    };
  return {
    why: `host ${name} does not run: ${withoutHostName(name, problem.message)}`,
    todo: `put host ${name} right: its program, its config, or its entry in toolplane.yaml`,
  };
};

const toolHostsOf = (projectId: string, views: () => readonly HostView[], lives: readonly HostLife[]): ToolHosts => ({
  list: (project) => (project === projectId ? views() : []),
  problemOf(project, target) {
    const view = project === projectId ? views().find(({ setting }) => setting.target === target) : undefined;
    return view && planProblem(projectId, view);
  },
  tried: Promise.all(lives.map(({ tried }) => tried)).then(() => undefined),
  async stop(drainMs) {
    await Promise.all(lives.map((life) => life.stop(drainMs)));
  },
});

/** Hosts and MCP servers that another process runs. */
export const listHosts = (
  settings: readonly HostSetting[],
  projectId: string,
  servers: readonly HostView[] = [],
): ToolHosts => {
  const hosts = settings.map(
    (setting): HostView => ({
      kind: "host",
      setting,
      program: setting.options.command[0],
      phase: "elsewhere",
      problem: undefined,
      description: undefined,
      tools: [],
      refused: [],
      host: undefined,
    }),
  );
  const views = [...hosts, ...servers];
  return toolHostsOf(projectId, () => views, []);
};

/** Starts them all, and waits for none. */
export const startHosts = (options: StartHostsOptions): ToolHosts => {
  const { settings, projectId, engine, clock, random, offset, pid } = options;
  const lives = settings.map((setting) =>
    createHostLife({
      ...options,
      setting,
      gateway: createEngineGateway({
        engine,
        projectId,
        actorId: `tool.${setting.target}`,
        holder: `host ${setting.name} (process ${pid} on ${hostname()})`,
        clock,
        random,
        offset,
      }),
    }),
  );
  return toolHostsOf(projectId, () => lives.map((life) => life.view()), lives);
};
