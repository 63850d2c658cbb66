// The one source of variables for everything that the plane runs itself: API tools, and tools of a program that opened the plane.
// It gives a variable only where `secrets.allow_env` says so (env-grants.ts).
//   - A value that is sent in a request goes to a host of its grant. A tool's own code may send it anywhere, so it gets only
//     variables that are bound to no host.
//   - `secrets.envs` of the file is the operator's word on which variable fills a parameter; it counts more than a definition.

import type { SecretSource } from "@toolplane/sdk";
import type { EnvSource } from "./env-grants.ts";

/** Target -> parameter -> variable; `*` is every target. */
export type ServiceEnvs = Readonly<Record<string, Readonly<Record<string, string>>>>;

const EVERY_TARGET = "*";

/** What is said for the target itself counts more than what is said for every target. */
export const planServiceEnvs = (envs: ServiceEnvs, target: string): Readonly<Record<string, string>> => ({
  ...(Object.hasOwn(envs, EVERY_TARGET) ? envs[EVERY_TARGET] : {}),
  ...(Object.hasOwn(envs, target) ? envs[target] : {}),
});

export const createServiceSecrets =
  (source: EnvSource, projectId: string): SecretSource =>
  (name, { host }) =>
    source({ name, projectId, destination: host === undefined ? "program" : { host } });
