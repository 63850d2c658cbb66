// A host as people and programs read it. The command's arguments are left out, because they may hold secrets.

import type { JsonObject } from "@toolplane/protocol";
import { describeProcess, type PlaneProcess } from "../up/plane-processes.ts";
import { planMissingRole, roleServing } from "../why/role-problem.ts";
import type { HostView } from "./host-life.ts";

/** What to do about a host that another process runs: only that process knows its state, and writes it to its log. */
export const planElsewhere = (target: string, processes: readonly PlaneProcess[] | undefined): string => {
  const missing = planMissingRole("tools", processes);
  if (missing !== undefined) return `${missing.why}: ${missing.todo}`;
  const running = roleServing(target, processes).map(describeProcess);
  const who = running.length === 0 ? "a process with the role tools" : running.join(" or ");
  return `this process does not have the role tools: see the log of ${who}`;
};

export const hostBody = (view: HostView, todo: string | undefined): JsonObject => {
  const { setting, phase, problem, description, tools, refused, host } = view;
  const status = host?.status();
  return {
    name: setting.name,
    target: setting.target,
    state: phase,
    problem: problem === undefined ? null : { code: problem.code, message: problem.message },
    todo: todo ?? null,
    program: setting.options.command[0] ?? null,
    session: setting.session,
    tools,
    refused: refused.map((tool) => ({ ...tool })),
    tags: description?.tags ?? [],
    required_tags: description?.requiredTags ?? [],
    ui_elements: description?.uiElements ?? [],
    config_schema: description?.configSchema ?? null,
    extensions: description?.extensions ?? [],
    processes: (status?.processes ?? []).map(({ pid, state, inFlight, answered }) => ({
      pid: pid ?? null,
      state,
      in_flight: inFlight,
      answered,
    })),
    queued: status?.queued ?? 0,
    starts: status?.starts ?? 0,
    crashes: status?.crashes ?? 0,
    breaker:
      status === undefined ? null : { state: status.breaker.state, retry_in_ms: Math.ceil(status.breaker.retryInMs) },
    last_failure: status?.lastFailure ?? null,
    last_stderr: status?.lastStderr ?? [],
  };
};
