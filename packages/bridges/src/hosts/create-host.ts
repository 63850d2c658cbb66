// Builds a supervised tool host from its configuration.

import { createRequire } from "node:module";
import type { JsonValue } from "@toolplane/protocol";
import {
  type HostResponse,
  isNotOffered,
  type PlainHostMethod,
  type PlainHostValue,
  parseHostValue,
  readFormattedResult,
} from "@toolplane/protocol/host";
import { silentLog } from "@toolplane/sdk";
import { createBorder } from "./border.ts";
import type { CrewDeps } from "./crew.ts";
import { createDiagnostics } from "./diagnostics.ts";
import type { AskOptions, HostOptions, HostPorts, ToolHost } from "./host.ts";
import { createHostLimits } from "./host-limits.ts";
import { createHostWords } from "./host-log.ts";
import { planLaunch } from "./launch.ts";
import { openHost } from "./open-host.ts";
import { hostSaidError } from "./plan-failure.ts";
import { HostPool } from "./pool.ts";
import { ExecuteTask, type Question, QuestionTask } from "./pool-task.ts";
import { createRequestIds } from "./request-ids.ts";
import { createRetrySafe } from "./retry-safe.ts";
import { systemTimers } from "./timers.ts";

const HOST_PROGRAM = createRequire(import.meta.url).resolve("@toolplane/sdk/host-launcher");

const createDeps = (options: HostOptions, ports: HostPorts): CrewDeps => {
  const { name, config = {} } = options;
  const limits = createHostLimits(options.limits);
  const { log = silentLog, onDiagnostic = () => undefined } = ports;
  const border = createBorder(ports.secrets ?? new Map());
  return {
    name,
    limits,
    timers: systemTimers,
    launch: planLaunch(options, { env: ports.env ?? process.env, node: process.execPath, hostProgram: HOST_PROGRAM }),
    newId: createRequestIds(),
    random: ports.random ?? Math.random,
    diagnostics: createDiagnostics(name, { log, timers: systemTimers, border, onDiagnostic }),
    words: createHostWords(name, limits, { log, timers: systemTimers, border }),
    guard: ports.guard,
    border,
    open: (talk, how) =>
      openHost(talk, {
        name,
        config,
        ...how,
        checkSchema: ports.checkSchema,
      }),
  };
};

type Params = Question["params"];

/** The optional requests; a method that the host lacks is not asked for again. */
const createQuestions = (name: string, pool: HostPool, callMs: number) => {
  const notOffered = new Set<string>();
  const submit = (method: string, params: Params, given: AskOptions): Promise<HostResponse> =>
    new Promise((resolve, reject) => {
      const { deadlineMs = callMs, signal } = given;
      pool.submit(new QuestionTask({ method, params, deadlineMs, signal }, resolve, reject));
    });
  const ask = async (method: string, params: Params, given: AskOptions): Promise<JsonValue | undefined> => {
    if (notOffered.has(method)) return undefined;
    const response = await submit(method, params, given);
    if (response.ok) return response.value;
    if (!isNotOffered(response)) throw hostSaidError(name, response);
    notOffered.add(method);
    return undefined;
  };
  const askPlain = async <M extends PlainHostMethod>(
    method: M,
    params: Params,
    given: AskOptions,
  ): Promise<PlainHostValue<M> | undefined> => {
    const value = await ask(method, params, given);
    return value === undefined ? undefined : parseHostValue(method, value);
  };
  return { ask, askPlain };
};

export const createToolHost = (options: HostOptions, ports: HostPorts = {}): ToolHost => {
  const { name } = options;
  const deps = createDeps(options, ports);
  const { callMs } = deps.limits;
  const pool = new HostPool(deps);
  const isRetrySafe = createRetrySafe(options.retrySafe ?? []);
  const { ask, askPlain } = createQuestions(name, pool, callMs);
  const close = (): Promise<void> => pool.close();

  return {
    name,
    start: () => pool.crew.start(),
    describe: () => pool.crew.description,
    isRetrySafe,
    execute: (request) =>
      new Promise((resolve) => {
        const choice = { retrySafe: isRetrySafe(request.toolName), callMs };
        pool.submit(new ExecuteTask(name, request, choice, resolve));
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
    status: () => pool.status(),
    close,
    [Symbol.asyncDispose]: close,
  };
};
