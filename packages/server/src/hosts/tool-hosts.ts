// All hosts of the configuration, and what is known of them. Without the `tools` role they are only listed: another
// process runs them.

import { hostname } from "node:os";
import type { Engine } from "@toolplane/engine";
import { understandError } from "@toolplane/protocol";
import type { Clock, Log, Random } from "@toolplane/sdk";
import type { ClockOffset } from "../gateway/clock-offset.ts";
import { createEngineGateway } from "../gateway/engine-gateway.ts";
import { createHostLife, type HostLife, type HostLifeOptions, type HostView } from "./host-life.ts";
import type { HostSetting } from "./host-settings.ts";

export interface ToolHosts {
  /** The hosts of a project. */
  list(projectId: string): readonly HostView[];
  /** Why nobody takes the calls of a target, if it is a host's and the host is not ready. */
  problemOf(projectId: string, target: string): string | undefined;
  stop(drainMs: number): Promise<void>;
}

export const NO_TOOL_HOSTS: ToolHosts = {
  list: () => [],
  problemOf: () => undefined,
  stop: async () => undefined,
};

export interface StartHostsOptions extends Pick<HostLifeOptions, "env" | "guard"> {
  readonly settings: readonly HostSetting[];
  readonly projectId: string;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly offset: ClockOffset;
  readonly pid: number;
}

const problemOf = (view: HostView): string | undefined => {
  const { name } = view.setting;
  if (view.phase === "ready" || view.phase === "elsewhere") return undefined;
  if (view.problem !== undefined) return `host ${name} does not run: ${view.problem.message}`;
  return `host ${name} is starting`;
};

const toolHostsOf = (projectId: string, views: () => readonly HostView[], lives: readonly HostLife[]): ToolHosts => ({
  list: (project) => (project === projectId ? views() : []),
  problemOf(project, target) {
    const view = project === projectId ? views().find(({ setting }) => setting.target === target) : undefined;
    return view && problemOf(view);
  },
  async stop(drainMs) {
    await Promise.all(lives.map((life) => life.stop(drainMs)));
  },
});

/** Hosts that another process runs. */
export const listHosts = (settings: readonly HostSetting[], projectId: string): ToolHosts => {
  const views = settings.map(
    (setting): HostView => ({
      setting,
      phase: "elsewhere",
      problem: undefined,
      description: undefined,
      tools: [],
      refused: [],
      host: undefined,
    }),
  );
  return toolHostsOf(projectId, () => views, []);
};

/** Resolves when each host has been tried once; what did not work is tried again behind it. */
export const startHosts = async (options: StartHostsOptions): Promise<ToolHosts> => {
  const { settings, projectId, engine, clock, random, log, offset, pid } = options;
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
  await Promise.all(lives.map(({ tried }) => tried)).catch((error: unknown) =>
    log.error("hosts could not be started", { reason: understandError(error).message }),
  );
  return toolHostsOf(projectId, () => lives.map((life) => life.view()), lives);
};
