// openPlane: the whole plane inside the user's own process, as a library. The client is the one that `connect` gives, without
// HTTP in between; tools are served in the same process; agents run in it.
//   LP1. The data directory belongs to this process alone. When another process owns it, the error is the one that `up` gives.
//   LP2. Closing lets running tools finish for as long as the caller of close allows, logs what it cut short, and leaves no process. When this
//        process is killed, the guard ends the database, and everything that was stored is there when the plane is opened again.

import { hostname } from "node:os";
import { type Log, systemClock } from "@toolplane/engine";
import { createGuard } from "@toolplane/processes";
import { badRequest, isRecord, isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import { type ServeOptions, type Serving, serveTools, type Tool } from "@toolplane/sdk";
import { asBadRequest, createKeys, createPlane, type Plane, refuseKeys } from "@toolplane/sdk/client";
import { readSettings } from "../config/read-settings.ts";
import { type Settings, UP_ROLES } from "../config/settings.ts";
import { createClockOffset, NO_OFFSET } from "../gateway/clock-offset.ts";
import { createEngineGateway } from "../gateway/engine-gateway.ts";
import { createLog } from "../log/log.ts";
import { createEnvSource } from "../secrets/env-grants.ts";
import { createServiceSecrets, planServiceEnvs } from "../secrets/service-secrets.ts";
import { type Stack, startStack } from "../up/stack.ts";
import { readVersion } from "../up/version.ts";
import { type CloseOptions, drain, drainSecondsOf, isClosed, tellLate } from "./close-plane.ts";
import { createEngineWay } from "./engine-way.ts";

export interface OpenPlaneOptions {
  /** The data directory of the embedded database; TOOLPLANE_DATA unless given, else `.toolplane`. */
  readonly data?: string | undefined;
  /** A PostgreSQL of your own instead; TOOLPLANE_DATABASE_URL unless given. */
  readonly databaseUrl?: string | undefined;
  /** Made if it is not there; TOOLPLANE_PROJECT unless given, else demo. */
  readonly project?: string | undefined;
  /** The configuration file; without it `toolplane.yaml` is read if it is there. */
  readonly config?: string | undefined;
  /** Data that is thrown away when the plane is closed. */
  readonly ephemeral?: boolean | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Errors on stderr unless given; TOOLPLANE_LOG_LEVEL says how much. */
  readonly log?: Log | undefined;
}

/** `secrets`: without one, variables come from the plane's environment, as far as `secrets.allow_env` of its file allows. */
export interface ServeHereOptions extends Pick<ServeOptions, "concurrency" | "secrets" | "maxResultBytes" | "signal"> {
  /** The target of the tools; `local` unless given. */
  readonly target?: string | undefined;
}

export interface OwnPlane extends Plane {
  /** Takes no more calls, lets running tools finish, and ends the database. Later calls of it wait for the first. */
  close(options?: CloseOptions): Promise<void>;
  /** Serves tools in this process until the plane is closed. */
  serve(tools: readonly Tool[], options?: ServeHereOptions): Promise<Serving>;
  /** Resolves when the plane cannot go on: another process took its data over. */
  readonly failed: Promise<Error>;
}

const DEFAULT_TARGET = "local";

const KEYS: Readonly<Record<keyof OpenPlaneOptions, true>> = {
  data: true,
  databaseUrl: true,
  project: true,
  config: true,
  ephemeral: true,
  env: true,
  log: true,
};

const LOG_FUNCTIONS = ["info", "warn", "error"] as const satisfies readonly (keyof Log)[];

const isLog = (log: unknown): boolean =>
  isRecord(log) && LOG_FUNCTIONS.every((name) => typeof log[name] === "function");

/** What is left out by mistake would open another plane: the one of the current folder. */
const checkOptions = (options: OpenPlaneOptions): void => {
  refuseKeys(options, { taker: "openPlane", keys: Object.keys(KEYS) });
  const { data, databaseUrl, config, project, ephemeral, env, log } = options;
  for (const [name, value] of Object.entries({ data, databaseUrl, config, project }))
    if (value !== undefined && typeof value !== "string")
      throw badRequest(`openPlane: ${name} must be a text, not ${String(value)}`);
  if (ephemeral !== undefined && typeof ephemeral !== "boolean")
    throw badRequest(`openPlane: ephemeral must be true or false, not ${String(ephemeral)}`);
  if (env !== undefined && !isRecord(env))
    throw badRequest("openPlane: env must be an object of texts, such as process.env");
  if (log !== undefined && !isLog(log))
    throw badRequest(`openPlane: log must be an object with the functions ${LOG_FUNCTIONS.join(", ")}`);
  for (const [name, value] of Object.entries({ data, databaseUrl }))
    if (value?.trim() === "") throw badRequest(`openPlane: ${name} is empty; leave it out, or give one`);
  if (data !== undefined && databaseUrl !== undefined)
    throw badRequest("openPlane takes data or databaseUrl: choose one of them");
};

const settingsOf = (options: OpenPlaneOptions, env: Readonly<Record<string, string | undefined>>): Settings => {
  const { data, databaseUrl, config, ephemeral, project } = options;
  const named = project ?? env.TOOLPLANE_PROJECT;
  return readSettings(
    { data, databaseUrl, config, ephemeral, roles: UP_ROLES },
    {
      cwd: process.cwd(),
      env: {
        ...env,
        TOOLPLANE_LOG_LEVEL: env.TOOLPLANE_LOG_LEVEL ?? "error",
        ...(named === undefined ? {} : { TOOLPLANE_PROJECT: named }),
      },
    },
  );
};

const logOf = ({ logLevel }: Settings): Log =>
  createLog({
    write: (line) => void process.stderr.write(line),
    pretty: process.stderr.isTTY === true,
    level: logLevel,
  });

interface Means {
  readonly stack: Stack;
  readonly settings: Settings;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const serveHere = async (
  { stack, settings, log, env }: Means,
  tools: readonly Tool[],
  { target = DEFAULT_TARGET, ...rest }: ServeHereOptions,
): Promise<Serving> => {
  const { engine } = stack.inside;
  const means = { clock: systemClock, random: Math.random };
  const offset = settings.databaseUrl === undefined ? NO_OFFSET : createClockOffset(engine.databaseNow, systemClock);
  await offset.measure();
  const gateway = createEngineGateway({
    ...means,
    engine,
    projectId: settings.project,
    actorId: `tool.${target}`,
    holder: `${target} (process ${process.pid} on ${hostname()})`,
    offset,
  });
  const planeSecrets = createServiceSecrets(createEnvSource(settings.envGrants, env), settings.project);
  const { secrets = planeSecrets } = rest;
  // The file names variables for every target, also for tools that have none.
  const isDeclared = tools.some(({ secrets, options }) => secrets.length > 0 || options.envs !== undefined);
  const envs = isDeclared ? planServiceEnvs(settings.serviceEnvs, target) : undefined;
  const own = { secrets, envs, target, gateway, log, handleSignals: false, url: undefined };
  return serveTools(tools, { ...rest, ...means, ...own });
};

/** Advice for a person who types flags, in the words of a program that gives options. */
const OPTION_WORDS: readonly (readonly [RegExp, string])[] = [
  [/start with another --data\b/g, "open another directory with data"],
  [/--database-url\b/g, "databaseUrl"],
  [/--data\b/g, "data"],
  [/--config\b/g, "config"],
];

const inWords = (text: string): string =>
  OPTION_WORDS.reduce((said, [flag, option]) => said.replaceAll(flag, option), text);

const inOwnWords = async (options: Parameters<typeof startStack>[0]): Promise<Stack> => {
  try {
    return await startStack(options);
  } catch (error) {
    const todo = isToolplaneError(error) ? error.detail?.todo : undefined;
    if (!isToolplaneError(error) || typeof todo !== "string") throw error;
    const detail = { ...error.detail, todo: inWords(todo) };
    throw new ToolplaneError(error.code, inWords(error.message), { detail, cause: error });
  }
};

export const openPlane = async (options: OpenPlaneOptions = {}): Promise<OwnPlane> => {
  checkOptions(options);
  const { env = process.env } = options;
  // A project that was named is made: a program that opens a plane for one wants to use it.
  const settings: Settings = { ...settingsOf(options, env), projectNamed: true };
  const log = options.log ?? logOf(settings);
  const stack = await inOwnWords({
    settings,
    version: readVersion(),
    cwd: process.cwd(),
    env,
    pid: process.pid,
    log,
    guard: createGuard(),
    stop: new AbortController().signal,
    listen: false,
  });
  const closing = new AbortController();
  const leaving = Promise.withResolvers<undefined>();
  const servings = new Map<string, Serving>();
  let drainSeconds = drainSecondsOf({});
  let closed: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    leaving.resolve(undefined);
    // Tools first, while their results can still be delivered; then the waiting callers.
    await Promise.all([...servings].map(([target, serving]) => drain({ target, serving, drainSeconds, log })));
    closing.abort();
    await stack.stop();
  };
  const endOnce = (): Promise<void> => {
    closed ??= end();
    return closed;
  };
  const way = createEngineWay({
    ...stack.inside,
    projectId: settings.project,
    closing: closing.signal,
    close: endOnce,
  });
  const client = createPlane({ way, makeKey: createKeys("own") });
  const close = async (given: CloseOptions = {}): Promise<void> => {
    const seconds = drainSecondsOf(given);
    if (closed === undefined) drainSeconds = seconds;
    await client.close();
  };
  return {
    ...client,
    close,
    [Symbol.asyncDispose]: () => close(),
    failed: stack.failed,
    async serve(tools, given = {}) {
      if (closed !== undefined) throw isClosed();
      const { target = DEFAULT_TARGET } = given;
      // Two services of one target would claim each other's calls and not have their tools.
      if (servings.has(target))
        throw badRequest(`target ${target} is served here already: give all its tools to one serve, or name a target`);
      const watched = tools.map((tool) => tellLate(tool, closing.signal, log));
      const coming = serveHere({ stack, settings, log, env }, watched, given).catch((error: unknown) => {
        throw asBadRequest(error);
      });
      // A plane that closes meanwhile answers nothing more.
      const serving = await Promise.race([coming, leaving.promise]);
      if (serving === undefined) {
        void coming.then((late) => late.stop()).catch(() => undefined);
        throw isClosed();
      }
      servings.set(target, serving);
      void serving.finished.finally(() => servings.delete(target));
      return serving;
    },
  };
};
