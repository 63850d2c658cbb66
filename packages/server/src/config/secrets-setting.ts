// `secrets.allow_env` of the file: a plain name allows the variable for the file's project and any allowed host; an object names
// projects and hosts. No other setting lets a variable out (SEC-16).

import { parseHostPattern } from "@toolplane/egress/policy";
import { isToken, type ToolplaneError, understandError } from "@toolplane/protocol";
import { isEnvName, isOwnEnvName } from "@toolplane/protocol/registry";
import type { HostSetting } from "../hosts/host-settings.ts";
import { type EnvGrant, planEnvUse } from "../secrets/env-grants.ts";
import type { ServiceEnvs } from "../secrets/service-secrets.ts";
import { refuseConfig } from "./refuse.ts";
import type { SettingsInput } from "./setting-value.ts";

export const planEnvGrants = ({ file }: SettingsInput, project: string): readonly EnvGrant[] =>
  (file?.config.secrets?.allow_env ?? []).map((entry, index) => {
    const { name, projects = [project], hosts } = typeof entry === "string" ? { name: entry } : entry;
    const refuse = (why: string): ToolplaneError =>
      refuseConfig(`${file?.where(["secrets", "allow_env", index])}: secrets.allow_env: ${why}`);
    if (!isEnvName(name)) throw refuse(`${JSON.stringify(name)} is not the name of a variable`);
    if (isOwnEnvName(name)) throw refuse(`${name} belongs to the system and is never given to a tool`);
    for (const id of projects)
      if (!isToken(id)) throw refuse(`${JSON.stringify(id)} is not the name of a project, in the projects of ${name}`);
    try {
      return { name, projects, hosts: hosts?.map(parseHostPattern) ?? "any" };
    } catch (error) {
      throw refuse(`${understandError(error, { keepMessage: true }).message}, in the hosts of ${name}`);
    }
  });

/** `secrets.envs`: a variable that no entry of `allow_env` gives away could never be used, so naming it is a mistake. */
export const planConfiguredEnvs = ({ file }: SettingsInput, grants: readonly EnvGrant[]): ServiceEnvs => {
  const envs = file?.config.secrets?.envs ?? {};
  for (const [target, parameters] of Object.entries(envs)) {
    for (const [parameter, name] of Object.entries(parameters)) {
      if (grants.some((grant) => grant.name === name)) continue;
      const line = file?.where(["secrets", "envs", target, parameter]);
      throw refuseConfig(`${line}: secrets.envs: the variable ${name} is not in secrets.allow_env`);
    }
  }
  return envs;
};

/**
 * A host's entry names its variables itself, and the same operator writes both lists. Where the two disagree, the narrower one
 * counts: a variable bound to other projects or to hosts is not given to a process that may send it anywhere.
 */
export const checkHostEnv = (
  { file }: Pick<SettingsInput, "file">,
  hosts: readonly HostSetting[],
  grants: readonly EnvGrant[],
  projectId: string,
): void => {
  for (const [at, { name: host, options }] of hosts.entries()) {
    for (const [index, name] of (options.env ?? []).entries()) {
      const granted = grants.filter((grant) => grant.name === name);
      const refusal = planEnvUse(grants, { name, projectId, destination: "program" });
      if (granted.length === 0 || refusal === undefined) continue;
      const line = file?.where(["hosts", at, "env", index]);
      if (!granted.some(({ projects }) => projects.includes(projectId)))
        throw refuseConfig(`${line}: env of host ${host}: ${refusal}`);
      throw refuseConfig(
        `${line}: ${name} is bound to hosts, and a program may send it anywhere; remove hosts from its entry in secrets.allow_env, or ${name} from env of host ${host}`,
      );
    }
  }
};
