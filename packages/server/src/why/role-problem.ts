// What a plane of several processes lacks: a role that no process has.

import { PMO_SERVICE } from "@toolplane/agents";
import { hostTarget } from "@toolplane/bridges";
import { BUNDLED_TARGET } from "../bundled/bundled-tools.ts";
import type { UpRole } from "../config/settings.ts";
import type { PlaneProcess } from "../up/plane-processes.ts";

export interface RoleProblem {
  readonly why: string;
  readonly todo: string;
}

const HOST_PREFIX = hostTarget("");

export const isHostTarget = (target: string): boolean => target.startsWith(HOST_PREFIX);

/** The role whose processes serve a target; none for the targets of users' own services. */
const roleOf = (target: string): UpRole | undefined => {
  if (target === BUNDLED_TARGET || isHostTarget(target)) return "tools";
  return target === PMO_SERVICE.target ? "pmo" : undefined;
};

/** The role whose processes serve a target for all projects; a host may be of one project. */
export const sharedRoleOf = (target: string): UpRole | undefined => (isHostTarget(target) ? undefined : roleOf(target));

const DOES: Readonly<Record<UpRole, string>> = {
  api: "answers requests",
  worker: "thinks for agents",
  pmo: "serves the tools with which agents manage agents",
  tools: "serves the bundled tools and the hosts",
};

export const having = (role: UpRole, processes: readonly PlaneProcess[]): readonly PlaneProcess[] =>
  processes.filter(({ roles }) => roles.includes(role));

/** The processes that serve a target of the plane's own. */
export const roleServing = (target: string, processes: readonly PlaneProcess[] = []): readonly PlaneProcess[] => {
  const role = roleOf(target);
  return role === undefined ? [] : having(role, processes);
};

export const planMissingRole = (
  role: UpRole,
  processes: readonly PlaneProcess[] | undefined,
): RoleProblem | undefined =>
  processes === undefined || having(role, processes).length > 0
    ? undefined
    : {
        why: `no process has the role ${role}, which ${DOES[role]}`,
        todo: `start one over the same database: toolplane up --roles ${role} --database-url URL`,
      };

/** Why one of the plane's own targets is not served; undefined when it is. */
export const planRoleProblem = (
  target: string,
  processes: readonly PlaneProcess[] | undefined,
): RoleProblem | undefined => {
  const role = roleOf(target);
  return role === undefined ? undefined : planMissingRole(role, processes);
};
