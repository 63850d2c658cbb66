// The way to an MCP server: a program behind the guard, or an address through the egress policy.

import { planHostEnv } from "@toolplane/bridges";
import { createMcpHttp, createMcpPipe, type McpTransport } from "@toolplane/bridges/mcp";
import { createEgress, type Egress } from "@toolplane/egress";
import type { AllowedOrigin } from "@toolplane/egress/policy";
import type { Guard } from "@toolplane/processes";
import { ToolplaneError } from "@toolplane/protocol";
import type { Log, Random } from "@toolplane/sdk";
import type { EnvSource } from "../secrets/env-grants.ts";
import { ENV_VALUE, type McpSetting } from "./mcp-settings.ts";

export interface McpMeans {
  readonly projectId: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly envSource: EnvSource;
  readonly egress: Egress;
  readonly guard: Guard | undefined;
  readonly log: Log;
  readonly random: Random;
}

/** A request may take as long as a run, seven days. While a tool works, its stream may be silent for a day. */
const LIMITS = { totalMs: 7 * 86_400_000, idleMs: 86_400_000 } as const;
const REDIRECTS = 3;

export const createMcpEgress = (allow: readonly AllowedOrigin[]): Egress =>
  createEgress({ hosts: "any", allow, redirects: REDIRECTS, limits: LIMITS });

const isSecret = (name: string): boolean => !["PATH", "HOME", "TMPDIR", "LANG"].includes(name);

/** What was given to the server, and must not come back in what it says (I8). */
export const secretsOf = ({ name, place }: McpSetting, means: McpMeans): ReadonlyMap<string, string> => {
  const { projectId, env, envSource } = means;
  if ("command" in place)
    return new Map(
      place.env.flatMap((variable) => {
        const value = env[variable];
        return value === undefined || value.trim() === "" || !isSecret(variable) ? [] : [[variable, value] as const];
      }),
    );
  const host = new URL(place.url).hostname;
  return new Map(
    Object.entries(place.headers).flatMap(([header, value]) => {
      if (!value.startsWith(ENV_VALUE)) return [];
      const variable = value.slice(ENV_VALUE.length);
      const found = envSource({ name: variable, projectId, destination: { host } });
      if (found === undefined || found.trim() === "")
        throw new ToolplaneError(
          "auth_failed",
          `MCP server ${name}: the header ${header} names the variable ${variable}, which is not set: set it where the server is started`,
        );
      return [[variable, found] as const];
    }),
  );
};

export const openTransport = (setting: McpSetting, means: McpMeans): McpTransport => {
  const { name, place } = setting;
  const secrets = secretsOf(setting, means);
  const { log, random, guard } = means;
  if ("command" in place) {
    const [program = "", ...args] = place.command;
    const argv = [program === "node" ? process.execPath : program, ...args];
    const launch = { argv, env: planHostEnv(means.env, place.env), cwd: place.cwd, ownUser: place.ownUser };
    return createMcpPipe({ name, launch, secrets, guard, log, random });
  }
  const url = new URL(place.url);
  const headers = Object.fromEntries(
    Object.entries(place.headers).map(([header, value]) => [
      header,
      value.startsWith(ENV_VALUE) ? (secrets.get(value.slice(ENV_VALUE.length)) ?? "") : value,
    ]),
  );
  return createMcpHttp({ url, headers, fetch: means.egress.within([url.hostname]) });
};
