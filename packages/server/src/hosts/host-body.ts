// A host as people and programs read it. The command's arguments are left out: they may hold what is nobody's business.

import type { HostView } from "./host-life.ts";

export const hostBody = ({ setting, phase, problem, description, tools, refused, host }: HostView) => {
  const status = host?.status();
  return {
    name: setting.name,
    target: setting.target,
    state: phase,
    problem: problem === undefined ? null : { code: problem.code, message: problem.message },
    program: setting.options.command[0] ?? null,
    session: setting.session,
    tools,
    refused,
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
