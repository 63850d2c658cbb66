// Which project may use a variable and where its value may be sent (SEC-7). The operator of the plane says it in
// `secrets.allow_env`; a project's own operators only name variables in profiles and definitions. Every use is checked here.

import { matchesHost } from "@toolplane/egress/policy";
import { ToolplaneError } from "@toolplane/protocol";
import { isEnvName, isOwnEnvName } from "@toolplane/protocol/registry";

export interface EnvGrant {
  readonly name: string;
  readonly projects: readonly string[];
  /** Patterns of host names; `any`: every host that may be reached at all. */
  readonly hosts: "any" | readonly string[];
}

export interface EnvUse {
  readonly name: string;
  readonly projectId: string;
  /** A host that a request goes to. `program`: a process of its own, which may send it anywhere. `definition`: only named;
   *  the value is read where the tool runs. */
  readonly destination: { readonly host: string } | "program" | "definition";
}

const reaches = ({ hosts }: EnvGrant, destination: EnvUse["destination"]): boolean => {
  if (hosts === "any" || destination === "definition") return true;
  return destination !== "program" && hosts.some((pattern) => matchesHost(pattern, destination.host));
};

/** Undefined: allowed. Otherwise one sentence with the variable, the project and what to set; never with the value. */
export const planEnvUse = (grants: readonly EnvGrant[], use: EnvUse): string | undefined => {
  const { name, projectId, destination } = use;
  if (!isEnvName(name) || isOwnEnvName(name)) return "a variable of the system itself is never given away";
  const own = grants.filter((grant) => grant.name === name && grant.projects.includes(projectId));
  if (own.some((grant) => reaches(grant, destination))) return undefined;
  const place = "secrets.allow_env of toolplane.yaml";
  if (own.length === 0)
    return `the variable ${name} may not be used by project ${projectId}: the operator of the plane lists { name: ${name}, projects: [${projectId}] } in ${place}`;
  const where = typeof destination === "string" ? "a program" : destination.host;
  return `the variable ${name} of project ${projectId} may not be sent to ${where}: the operator of the plane widens the hosts of its entry in ${place}`;
};

/** The value, undefined when it is not set, or a refusal. */
export type EnvSource = (use: EnvUse) => string | undefined;

export const createEnvSource =
  (grants: readonly EnvGrant[], env: Readonly<Record<string, string | undefined>>): EnvSource =>
  (use) => {
    const refusal = planEnvUse(grants, use);
    if (refusal !== undefined)
      throw new ToolplaneError("auth_failed", refusal, { detail: { variable: use.name, project_id: use.projectId } });
    return Object.hasOwn(env, use.name) ? env[use.name] : undefined;
  };
