// serveTools: connects, registers what changed, serves until stopped. The parts of a service are put together here.

import { hostname } from "node:os";
import { UsageError, understandError } from "@toolplane/protocol";
import { isEnvName, isOwnEnvName } from "@toolplane/protocol/registry";
import type { Patience, ToolGateway } from "../gateway/gateway.ts";
import { type Clock, systemClock, WAIT_OVER } from "../ports/clock.ts";
import { createIds, type Random, sha256 } from "../ports/ids.ts";
import { type Log, stderrLog } from "../ports/log.ts";
import { createRunner } from "../runner/runner.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { createEnvSecrets, type SecretSource } from "../secrets/secret-source.ts";
import { createCallScope } from "../tools/call-scope.ts";
import { definitionOf, type Tool } from "../tools/define-tool.ts";
import { createFunctionExecutor } from "../tools/function-executor.ts";
import { refuseUnknownKeys } from "../tools/refuse-keys.ts";
import { endInOneSentence, endRefused } from "./end-in-one-sentence.ts";
import { endOnCrash } from "./end-on-crash.ts";
import { explainStart } from "./explain-start.ts";
import { planNamedDefinitions } from "./named-definitions.ts";
import { type OpenGateway, openGateway, readConnection } from "./open-gateway.ts";
import { findPlaneBeside } from "./plane-beside.ts";
import { type ProcessPort, stopOnSignals } from "./process-signals.ts";
import { registerTools, type ServedTool } from "./register-tools.ts";
import { isPlaneNamed, planSettings, type ServiceSettings, type ServiceSettingsInput } from "./settings.ts";
import { type StopOptions, startToolService } from "./tool-service.ts";

export interface ServeOptions extends ServiceSettingsInput {
  /** Aborting it is `stop()`. */
  readonly signal?: AbortSignal | undefined;
  readonly log?: Log | undefined;
  /** How long running calls may take to end when the service stops. */
  readonly drainMs?: number | undefined;
  /** How long to look for the server at the start; without end unless told otherwise, as after the start. */
  readonly startupMs?: number | undefined;
  /** Drain on SIGTERM and SIGINT, then exit. On unless told otherwise. */
  readonly handleSignals?: boolean | undefined;
  /** Where the values of secrets come from; the environment unless told otherwise. */
  readonly secrets?: SecretSource | undefined;
  /** Parameter -> variable: replaces the variable that a definition names for the parameter. */
  readonly envs?: Readonly<Record<string, string>> | undefined;
  readonly maxResultBytes?: number | undefined;
  /** How often a `retry: safe` tool is tried in one run. */
  readonly maxAttempts?: number | undefined;
  /** Another way to the plane than the address says. */
  readonly gateway?: ToolGateway | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly process?: ProcessPort | undefined;
}

const KEYS: Readonly<Record<keyof ServeOptions, true>> = {
  target: true,
  url: true,
  token: true,
  project: true,
  concurrency: true,
  natsCredentials: true,
  natsInbox: true,
  signal: true,
  log: true,
  drainMs: true,
  startupMs: true,
  handleSignals: true,
  secrets: true,
  envs: true,
  maxResultBytes: true,
  maxAttempts: true,
  gateway: true,
  env: true,
  clock: true,
  random: true,
  process: true,
};

export interface Serving extends AsyncDisposable {
  stop(options?: StopOptions): Promise<void>;
  /** Resolves when the service has stopped, for whatever reason. */
  readonly finished: Promise<void>;
  /** Calls that run at this moment. */
  running(): number;
}

/** A server that is restarting is back by then; if no server was ever started, the user should hear of it soon. */
const NOTICE_MS = 3_000;

/**
 * A parameter that no definition here names may still be one that the registered definition fills, but only from a variable that
 * the code declares. Without such a tool nothing would ever read `envs`.
 */
const checkEnvs = (tools: readonly Tool[], envs: Readonly<Record<string, unknown>>): void => {
  for (const [parameter, name] of Object.entries(envs)) {
    if (typeof name !== "string" || !isEnvName(name) || isOwnEnvName(name))
      throw new UsageError(
        `envs.${parameter} must be the name of a variable that a tool may have, not ${String(name)}`,
      );
    if (!tools.some(({ secrets, options }) => secrets.length > 0 || options.envs !== undefined))
      throw new UsageError(
        `envs names a variable for ${parameter}, but no tool here declares a variable (envs or secrets of defineTool); leave it out`,
      );
  }
};

const checkDrain = ({ drainMs = 0 }: StopOptions): void => {
  if (typeof drainMs === "number" && drainMs >= 0) return;
  throw new UsageError(`drainMs must be a number of milliseconds, 0 or more, not ${String(drainMs)}`);
};

/** What the options and the environment say; a mistake in them is one sentence too. */
const planStart = (tools: readonly Tool[], options: ServeOptions, port: ProcessPort | undefined) => {
  try {
    if (tools.length === 0) throw new UsageError("serveTools needs at least one tool");
    refuseUnknownKeys(options, { taker: "serveTools", keys: Object.keys(KEYS) });
    const { maxAttempts = 1, envs = {} } = options;
    if (!Number.isInteger(maxAttempts) || maxAttempts < 1)
      throw new UsageError("maxAttempts must be a whole number from 1 on");
    checkDrain(options);
    checkEnvs(tools, envs);
    const env = options.env ?? process.env;
    const beside = options.gateway === undefined ? findPlaneBeside(env, process.cwd()) : undefined;
    const settings: ServiceSettings = planSettings(options, env, beside);
    return { settings, connection: readConnection(settings) };
  } catch (error) {
    if (port !== undefined && error instanceof Error) endInOneSentence(error, port);
    throw error;
  }
};

export const serveTools = async (tools: readonly Tool[], options: ServeOptions): Promise<Serving> => {
  const { log = stderrLog, clock = systemClock, random = Math.random, env = process.env } = options;
  const port = options.handleSignals === false ? undefined : (options.process ?? process);
  const { settings, connection } = planStart(tools, options, port);
  const ids = createIds(clock.now);
  const startUntil = clock.now() + (options.startupMs ?? Number.POSITIVE_INFINITY);
  const started = new AbortController();
  void clock.sleep(NOTICE_MS, started.signal).then(() => {
    if (!started.signal.aborted)
      log.warn(`no Toolplane server answers at ${settings.url} yet; waiting for it (TOOLPLANE_URL names another one)`);
  });
  const starting = { signal: options.signal, until: () => startUntil };
  const scrubber = createScrubber(connection.secrets);
  const explained = (thrown: unknown): never => {
    started.abort(WAIT_OVER);
    const error = explainStart(thrown, settings, scrubber);
    if (port !== undefined) endInOneSentence(error, port);
    throw error;
  };
  const folder = process.cwd();
  const find = isPlaneNamed(options, env) ? undefined : () => findPlaneBeside(env, folder);
  const holder = `${settings.target}@${hostname()}:${process.pid}`;
  const opened: OpenGateway =
    options.gateway === undefined
      ? await openGateway(settings, connection, { holder, clock, random, ids, log, find }, starting).catch(explained)
      : { gateway: options.gateway, close: async () => undefined };
  const { gateway } = opened;
  const { target } = settings;
  const place = { projectId: gateway.projectId, target };
  const served = new Map<string, ServedTool>();
  const scope = port === undefined ? undefined : createCallScope();
  const executor = createFunctionExecutor({ tools, sha256, ...place, served: (name) => served.get(name), scope });
  const definitions = tools.map((tool) => definitionOf(tool, place));

  const register = async (patience: Patience): Promise<void> => {
    const registered = await registerTools(definitions, gateway, sha256, patience);
    const sent = registered.filter((tool) => tool.sent).map(({ toolName }) => toolName);
    if (sent.length > 0) log.info("registered", { tools: sent.join(", ") });
    for (const tool of registered) {
      // Logged once, because an idle service asks again and again.
      const known = served.get(tool.toolName);
      if (tool.waits !== undefined && known?.waits !== tool.waits) log.warn(tool.waits);
      for (const warning of tool.warnings ?? [])
        if (known?.warnings?.includes(warning) !== true) log.warn(`${tool.toolName}: ${warning}`);
      served.set(tool.toolName, tool);
    }
  };
  await register(starting).catch(async (thrown: unknown) => {
    await opened.close();
    explained(thrown);
  });
  started.abort(WAIT_OVER);

  let lacking = false;
  const registerAgain = (): void => {
    register({ signal: options.signal }).then(
      () => {
        lacking = false;
      },
      (thrown: unknown) => {
        // Logged once when it begins; an idle service would repeat it without end.
        if (!lacking)
          log.error("registering again failed", { reason: explainStart(thrown, settings, scrubber).message });
        lacking = true;
      },
    );
  };

  const runner = createRunner({
    gateway,
    executor,
    target,
    clock,
    random,
    ids,
    log,
    secrets: options.secrets ?? createEnvSecrets(env),
    envs: options.envs,
    ownSecrets: connection.secrets,
    maxResultBytes: options.maxResultBytes,
    maxAttempts: options.maxAttempts,
  });
  let refused: Error | undefined;
  const service = startToolService({
    gateway,
    runner,
    target,
    concurrency: settings.concurrency,
    retrySafe: tools.every(({ options: { retry } }) => retry === "safe"),
    clock,
    random,
    log,
    definitions: () => {
      // Over NATS they go with every lease, so a service without a pinned tool does not send them.
      const isNeeded = settings.nats === undefined || [...served.values()].some(({ pin }) => pin === "strict");
      return isNeeded ? planNamedDefinitions(served.values()) : undefined;
    },
    // A server that came back may be empty. Over NATS a service does not see the plane go, so an idle service registers from
    // time to time.
    onReconnected: registerAgain,
    // On NATS a right may be granted while the service runs.
    onRefused:
      settings.nats === undefined
        ? (error) => {
            refused = explainStart(error, settings, scrubber);
            void service.stop();
          }
        : undefined,
    onIdle: settings.nats === undefined ? undefined : registerAgain,
  });
  const finished = service.finished.then(() =>
    opened.close().catch((thrown: unknown) => {
      log.warn("the connection did not close properly", { reason: understandError(thrown).message });
    }),
  );
  const stop = async (stopping: StopOptions = {}): Promise<void> => {
    refuseUnknownKeys(stopping, { taker: "stop", keys: ["drainMs"] });
    checkDrain(stopping);
    await service.stop({ drainMs: stopping.drainMs ?? options.drainMs });
    await finished;
  };

  const forget = port === undefined ? () => {} : stopOnSignals(port, stop);
  const lastWords = (thrown: unknown): Promise<void> => service.crash(() => runner.crash(thrown, scope?.current()));
  const forgetCrash = port === undefined ? () => {} : endOnCrash(port, lastWords);
  const onAbort = (): void => void stop();
  if (options.signal?.aborted) onAbort();
  else options.signal?.addEventListener("abort", onAbort, { once: true });
  void service.finished.then(() => {
    forget();
    forgetCrash();
    options.signal?.removeEventListener("abort", onAbort);
  });
  void finished.then(() => {
    if (refused !== undefined) endRefused(refused, port, log);
  });
  log.info("serving", { target, project: gateway.projectId, tools: tools.map(({ name }) => name).join(", ") });
  return { stop, finished, running: service.running, [Symbol.asyncDispose]: () => stop() };
};
