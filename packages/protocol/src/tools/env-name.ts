// Names of environment variables a definition may bind a parameter to. The value never passes through here (I8).
// The operator's allow-list decides which names a project may use; the names below are refused whatever the list says, because
// their values open this system itself (SEC-7, W-34).

import { ToolplaneError } from "../errors/toolplane-error.ts";

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

const OWN_PREFIXES = ["TOOLPLANE_", "CG_", "NATS_", "LD_", "DYLD_"] as const;

/** Database credentials in every spelling the drivers read, and variables that change how a process starts. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  "DATABASE_URL",
  "PG_DSN",
  "PGPASSWORD",
  "PGPASSFILE",
  "PGSERVICEFILE",
  "POSTGRES_PASSWORD",
  "POSTGRES_URL",
  "NODE_OPTIONS",
  "NODE_EXTRA_CA_CERTS",
  "PATH",
]);

export const isEnvName = (name: string): boolean => ENV_NAME.test(name);

export const isOwnEnvName = (name: string): boolean => {
  const upper = name.toUpperCase();
  return OWN_NAMES.has(upper) || OWN_PREFIXES.some((prefix) => upper.startsWith(prefix));
};

/** Says whether the operator lets tools of this project name the variable. */
export type AllowEnv = (name: string, projectId: string) => boolean;

/** The project whose definition names the variable, and the operator's answer. */
export interface EnvScope {
  readonly projectId: string;
  readonly allowEnv?: AllowEnv | undefined;
}

export const checkEnvName = (name: string, at: string, { projectId, allowEnv }: EnvScope): void => {
  const refuse = (why: string): never => {
    throw new ToolplaneError("bad_request", `${at}: ${why}`, { detail: { path: at } });
  };
  if (!isEnvName(name)) refuse("not a variable name (letters, digits, _; at most 128)");
  if (isOwnEnvName(name)) refuse(`${name} belongs to the system and is never given to a tool`);
  if (allowEnv !== undefined && !allowEnv(name, projectId))
    refuse(
      `${name} is not a variable that tools of project ${projectId} may use: the operator of the plane lists it in secrets.allow_env`,
    );
};
