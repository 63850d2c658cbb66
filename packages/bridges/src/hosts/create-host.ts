// Builds a supervised tool host from its configuration.

import { randomUUID } from "node:crypto";
import { isToolplaneError, type JsonObject, type JsonValue, ToolplaneError } from "@toolplane/protocol";
import {
  isNotOffered,
  type PlainHostMethod,
  type PlainHostValue,
  parseHostValue,
  parseToolOutcome,
  readFormattedResult,
} from "@toolplane/protocol/host";
import { silentLog } from "@toolplane/sdk";
import { createDiagnostics } from "./diagnostics.ts";
import type { AskOptions, ExecuteResult, HostOptions, HostPorts, ToolHost } from "./host.ts";
import { createHostLimits } from "./host-limits.ts";
import { createHostWords } from "./host-log.ts";
import { planLaunch } from "./launch.ts";
import { openHost } from "./open-host.ts";
import { hostSaidError } from "./plan-failure.ts";
import { HostPool } from "./pool.ts";
import type { PoolTask, TaskEnd, TaskRequest } from "./pool-task.ts";
import { createRetrySafe } from "./retry-safe.ts";
import { systemTimers } from "./timers.ts";

const failed = (error: ToolplaneError, task: PoolTask): ExecuteResult => ({
  outcome: { status: "failed", error, written: task.written },
  state: undefined,
  attempts: task.attempts,
  pid: task.pid,
});

const readOutcome = (host: string, end: TaskEnd, task: PoolTask): ExecuteResult => {
  if (end.kind === "failed") return failed(end.error, task);
  const { response } = end;
  if (!response.ok) return failed(hostSaidError(host, response), task);
  try {
    const said = parseToolOutcome(response.value);
    if (!said.success) return failed(new ToolplaneError("tool_error", said.error), task);
    return {
      outcome: { status: "success", result: said.result },
      state: response.state,
      attempts: task.attempts,
      pid: task.pid,
    };
  } catch (error) {
    if (!isToolplaneError(error)) throw error;
    return failed(error, task);
  }
};

export const createToolHost = (options: HostOptions, ports: HostPorts = {}): ToolHost => {
  const { name, config = {}, models = [] } = options;
  const limits = createHostLimits(options.limits);
  const timers = ports.timers ?? systemTimers;
  const log = ports.log ?? silentLog;
  const scrub = ports.scrub ?? ((text: string) => text);
  const isRetrySafe = createRetrySafe(options.retrySafe ?? []);
  const onDiagnostic = ports.onDiagnostic ?? (() => undefined);
  /** Optional methods the host said it does not have. */
  const notOffered = new Set<string>();

  const pool = new HostPool({
    name,
    limits,
    timers,
    launch: planLaunch(options, { env: ports.env ?? process.env, node: process.execPath }),
    newId: ports.newId ?? (() => randomUUID()),
    random: ports.random ?? Math.random,
    diagnostics: createDiagnostics(name, { log, timers, scrub, onDiagnostic }),
    words: createHostWords(name, limits, { log, timers, scrub }),
    guard: ports.guard,
    open: (talk, mode, describe) =>
      openHost(talk, {
        name,
        config,
        models,
        mode,
        describe,
        helloMs: limits.helloMs,
        compileSchema: ports.compileSchema,
      }),
  });

  const ask = (method: string, params: TaskRequest["params"], given: AskOptions): Promise<JsonValue | undefined> =>
    new Promise((resolve, reject) => {
      if (notOffered.has(method)) return resolve(undefined);
      pool.submit({
        method,
        params,
        // Questions about a result change nothing.
        retrySafe: true,
        deadlineMs: given.deadlineMs ?? limits.callMs,
        signal: given.signal,
        emit: undefined,
        settle: (end) => {
          if (end.kind === "failed") return reject(end.error);
          if (end.response.ok) return resolve(end.response.value);
          if (!isNotOffered(end.response)) return reject(hostSaidError(name, end.response));
          notOffered.add(method);
          resolve(undefined);
        },
      });
    });

  const askPlain = async <M extends PlainHostMethod>(
    method: M,
    params: TaskRequest["params"],
    given: AskOptions,
  ): Promise<PlainHostValue<M> | undefined> => {
    const value = await ask(method, params, given);
    return value === undefined ? undefined : parseHostValue(method, value);
  };

  return {
    name,
    start: () => pool.start(),
    describe: () => pool.description,
    isRetrySafe,
    execute: (request) =>
      new Promise((resolve) => {
        pool.submit({
          method: "execute_tool",
          params: ({ initState, extensions }, msLeft) => {
            const params: Record<string, JsonValue> = {
              tool_name: request.toolName,
              arguments: request.arguments,
              state: request.state ?? initState,
            };
            if (extensions.includes("deadline")) params.deadline_ms = msLeft;
            return params;
          },
          retrySafe: isRetrySafe(request.toolName),
          deadlineMs: request.deadlineMs ?? limits.callMs,
          signal: request.signal,
          emit: request.emit,
          settle: (end, task) => resolve(readOutcome(name, end, task)),
        });
      }),
    formatResult: async ({ result, state, ...given }) => {
      const value = await ask("format_tool_result", (place) => ({ result, state: state ?? place.initState }), given);
      return value === undefined ? undefined : readFormattedResult(value);
    },
    formatCallPreview: ({ toolName, arguments: args, state, ...given }) =>
      askPlain(
        "format_tool_call_preview",
        (place) => ({ tool_name: toolName, arguments: args, state: state ?? place.initState }),
        given,
      ),
    toDisplayFormat: ({ text, result, state, ...given }) =>
      askPlain("to_display_format", (place) => ({ text, result, state: state ?? place.initState }), given),
    tagsFor: (asked, given = {}) =>
      askPlain("get_tags", () => ({ config, models: asked as readonly JsonObject[] }), given),
    status: () => pool.status(),
    close: () => pool.close(),
    [Symbol.asyncDispose]: () => pool.close(),
  };
};
