// A host, or an MCP server, as people and programs read it. The command's arguments are left out, because they may hold secrets.

import { z } from "zod";
import { anyObject, type BodyOf, text, textOrNull } from "../http/answers.ts";
import { describeProcess, type PlaneProcess } from "../up/plane-processes.ts";
import { planMissingRole, roleServing } from "../why/role-problem.ts";
import type { HostView } from "./host-life.ts";

export const hostShape = z
  .strictObject({
    kind: z.enum(["host", "mcp"]),
    name: text,
    target: text,
    state: z.enum(["starting", "ready", "failed", "elsewhere"]),
    problem: z.strictObject({ code: text, message: text }).nullable(),
    todo: textOrNull,
    program: textOrNull,
    session: text,
    tools: z.array(text),
    refused: z.array(z.strictObject({ name: text, reason: text })),
    tags: z.array(text),
    required_tags: z.array(text),
    ui_elements: z.array(anyObject),
    config_schema: anyObject.nullable(),
    extensions: z.array(text),
    processes: z.array(z.strictObject({ pid: z.int().nullable(), state: text, in_flight: z.int(), answered: z.int() })),
    queued: z.int(),
    starts: z.int(),
    crashes: z.int(),
    breaker: z.strictObject({ state: text, retry_in_ms: z.int() }).nullable(),
    last_failure: textOrNull,
    last_stderr: z.array(text),
  })
  .meta({ id: "Host" });

/** What to do about a host that another process runs: only that process knows its state, and writes it to its log. */
export const planElsewhere = (target: string, processes: readonly PlaneProcess[] | undefined): string => {
  const missing = planMissingRole("tools", processes);
  if (missing !== undefined) return `${missing.why}: ${missing.todo}`;
  const running = roleServing(target, processes).map(describeProcess);
  const who = running.length === 0 ? "a process with the role tools" : running.join(" or ");
  return `this process does not have the role tools: see the log of ${who}`;
};

export const hostBody = (view: HostView, todo: string | undefined): BodyOf<typeof hostShape> => {
  const { kind, setting, program, phase, problem, description, tools, refused, host } = view;
  const status = host?.status();
  return {
    kind,
    name: setting.name,
    target: setting.target,
    state: phase,
    problem: problem === undefined ? null : { code: problem.code, message: problem.message },
    todo: todo ?? null,
    program: program ?? null,
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
