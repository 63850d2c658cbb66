// The parts of the stack, started one after the other and stopped in the order that loses nothing.
//   start: listen (answers 503) -> bus -> store -> engine -> token -> configuration -> bundled tools -> hosts ->
//          project manager -> worker -> gateway on the bus -> ready
//   stop:  no new requests, long polls end -> requests, turns and tools finish -> engine (its last messages leave) -> bus ->
//          store -> data -> guard
//   ST1. Every started part is stopped, also when a later part could not start.
//   ST2. The port is opened before the data: requests during the start are answered with "starting".

import { hostname } from "node:os";
import { createProfileCheck } from "@toolplane/agents";
import { type CallObserver, type Engine, type Log, systemClock } from "@toolplane/engine";
import type { Guard } from "@toolplane/processes";
import { isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import { checkApiTool } from "../apis/serve-apis.ts";
import { BUNDLED_TARGET, bundledDefinitions } from "../bundled/bundled-tools.ts";
import { applyConfig, type ConfigDefinitions, readDefinitions } from "../config/apply-config.ts";
import type { Settings } from "../config/settings.ts";
import { createConsoleFiles } from "../console/console-files.ts";
import { findConsole } from "../console/find-console.ts";
import { seedDemo } from "../demo/demo-project.ts";
import type { ToolHosts } from "../hosts/tool-hosts.ts";
import { createApp } from "../http/app.ts";
import { createPlaneMetrics, type PlaneMetrics } from "../metrics/plane-metrics.ts";
import { routes } from "../routes/index.ts";
import { planEnvUse } from "../secrets/env-grants.ts";
import { openTracing, type Tracing } from "../tracing/tracing.ts";
import { openWebhookDoor } from "../webhooks/run-webhooks.ts";
import { writeAddressFile } from "./address-file.ts";
import { findPlaneOf, refuseBesidePlane, refuseOtherDatabase } from "./address-owner.ts";
import { makeConsoleLink } from "./console-link.ts";
import { type DataDirectory, openDataDirectory, openThrowAwayDirectory } from "./data-directory.ts";
import { openEmbeddedStore } from "./embedded-store.ts";
import { createHealth, type Phase } from "./health.ts";
import { type HttpServer, listen, servedHosts } from "./http-server.ts";
import { type LoopPauses, watchLoop } from "./loop-pauses.ts";
import { beOnlyPlane, readPlaneId } from "./only-plane.ts";
import { explainStart, openBus, type PlaneBus, readNatsOptions } from "./open-bus.ts";
import { openEngine } from "./open-engine.ts";
import { IN_PROCESS } from "./owner-lock.ts";
import {
  aloneWith,
  createPlaneProcesses,
  describeProcess,
  findOtherBus,
  nameProcess,
  type PlaneProcess,
  type PlaneProcesses,
} from "./plane-processes.ts";
import { alreadyRunning, findOwnerOf } from "./server-life.ts";
import { type Services, startServices, stopServices } from "./services.ts";
import { openOwnStore, type Store } from "./store.ts";
import { ensureTokenFile, tokenPath } from "./token-file.ts";

export interface StackOptions {
  readonly settings: Settings;
  readonly version: string;
  readonly cwd: string;
  /** Our own variables, of which hosts get those they are allowed. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly log: Log;
  readonly guard: Guard;
  /** Aborted when it is to stop, also before it is ready. */
  readonly stop: AbortSignal;
  /** False: the plane is a library of another program. It listens to nothing and makes no token. */
  readonly listen?: boolean | undefined;
}

export interface Stack {
  /** Undefined when nothing is served over HTTP. */
  readonly url: string | undefined;
  /** Logs a browser in, once; undefined when this process serves no console. */
  readonly consoleUrl: string | undefined;
  /** For a program in the same process. */
  readonly inside: { readonly engine: Engine; readonly toolHosts: ToolHosts; readonly processes: PlaneProcesses };
  /** Resolves when it cannot go on. */
  readonly failed: Promise<Error>;
  stop(): Promise<void>;
}

interface Parts extends Services {
  phase: Phase;
  readonly draining: AbortController;
  readonly loop: LoopPauses;
  readonly metrics: PlaneMetrics;
  tracing?: Tracing;
  data?: DataDirectory;
  http?: HttpServer;
  bus?: PlaneBus;
  store?: Store;
  engine?: Engine;
  processes?: PlaneProcesses;
  forgetAddress?: () => void;
  consoleUrl?: string | undefined;
}

/** Requests that are not long polls take milliseconds; supervisors usually kill a process after ten seconds. */
const REQUEST_GRACE_MS = 5_000;
/** The last spans are worth a moment and no more. */
const TRACES_GRACE_MS = 1_000;

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);

const createStackApp = (parts: Parts, { settings, version, log }: StackOptions) =>
  createApp({
    engine: () => (parts.phase === "starting" ? undefined : parts.engine),
    toolHosts: () => parts.toolHosts,
    processes: () => parts.processes,
    routes: settings.roles.includes("api") ? routes : [],
    webhooks: openWebhookDoor(settings, () => parts.data?.path ?? settings.data),
    console: createConsoleFiles(findConsole),
    metrics: parts.metrics,
    metricsToken: settings.metricsToken,
    log,
    hosts: [...servedHosts(settings.host), ...settings.allowedHosts],
    draining: parts.draining.signal,
    health: createHealth({
      version,
      store: settings.databaseUrl === undefined ? "embedded" : "postgres",
      bus: settings.bus === undefined ? undefined : { connected: () => parts.bus?.connected() ?? false },
      roles: settings.roles,
      phase: () => parts.phase,
      askStore: async () => {
        if (parts.store?.ready() !== true) throw new ToolplaneError("storage_error", "the database is away");
        return parts.engine?.databaseNow();
      },
      longestPauseMs: () => parts.loop.longestMs(),
      storeRefuses: () => parts.engine?.db.refusesWrites() ?? false,
    }),
  });

const observeAll = (observers: readonly (CallObserver | undefined)[]): CallObserver => {
  const [first, ...others] = observers.filter((observer) => observer !== undefined);
  if (first === undefined || others.length === 0) return first ?? (() => {});
  return (change, news) => {
    first(change, news);
    for (const observe of others) observe(change, news);
  };
};

const describeInfo = ({ settings, version }: StackOptions): Readonly<Record<string, string>> => ({
  version,
  store: settings.databaseUrl === undefined ? "embedded" : "postgres",
  bus: settings.bus === undefined ? "postgres" : "nats",
  roles: settings.roles.join(","),
});

/** A taken port is often our own server's: then the error names it. */
const listenOrExplain = async (parts: Parts, options: StackOptions, dataDir: string): Promise<HttpServer> => {
  const { settings } = options;
  try {
    return await listen({ app: createStackApp(parts, options), host: settings.host, port: settings.port });
  } catch (error) {
    if (!isToolplaneError(error) || error.code !== "conflict" || settings.databaseUrl !== undefined) throw error;
    const owner = await findOwnerOf(dataDir);
    throw owner === undefined ? error : alreadyRunning(dataDir, owner);
  }
};

const selfOf = ({ settings, pid }: Pick<StackOptions, "settings" | "pid">): PlaneProcess => ({
  pid,
  host: hostname(),
  roles: settings.roles,
  bus: settings.bus === undefined ? "postgres" : "nats",
});

const warnOfOtherBus = async (processes: PlaneProcesses, self: PlaneProcess, log: Log): Promise<void> => {
  const other = findOtherBus(self, await processes.list());
  if (other === undefined) return;
  const todo = "give all processes of one database the same --nats-url, or none";
  log.warn("a process over the same database uses another bus", {
    process: describeProcess(other),
    bus: other.bus,
    todo,
  });
};

const openStore = async ({ settings, guard, log, pid }: StackOptions, dataDir: string): Promise<Store> =>
  settings.databaseUrl === undefined
    ? openEmbeddedStore({ dataDir, throwAway: settings.ephemeral, guard, log, pid })
    : openOwnStore({
        databaseUrl: settings.databaseUrl,
        migrationUrl: settings.migrationDatabaseUrl,
        name: nameProcess(selfOf({ settings, pid })),
      });

const prepare = async (
  engine: Engine,
  /** Where the token goes; undefined when none is needed. */
  dataDir: string | undefined,
  definitions: ConfigDefinitions,
  { settings, log }: StackOptions,
): Promise<void> => {
  if (dataDir !== undefined) {
    const label = settings.databaseUrl === undefined ? "toolplane up" : `toolplane up ${hostname()}:${dataDir}`;
    const made = await ensureTokenFile({ dataDir, tokens: engine.tokens, label, log });
    log.info(made ? "an admin token was made" : "the admin token is there", { file: tokenPath(dataDir) });
  }
  await engine.projects.renewTools();
  if (settings.demo) await seedDemo(engine, log);
  await applyConfig({ engine, settings, definitions, log });
};

/** Where this process can be reached, for processes that find its data taken. */
const listenFirst = async (parts: Parts, options: StackOptions, dataDir: string): Promise<string> => {
  const { settings, log } = options;
  if (options.listen === false) return IN_PROCESS;
  parts.http = await listenOrExplain(parts, options, dataDir);
  const { address } = parts.http;
  if (!LOOPBACK.has(settings.host)) log.warn("listening beyond this machine, and without TLS", { address });
  return address;
};

const openData = async ({ settings, guard, listen: isServer }: StackOptions): Promise<DataDirectory> => {
  if (settings.ephemeral) return openThrowAwayDirectory(guard);
  // A library on the user's own database keeps nothing in files.
  if (isServer === false && settings.databaseUrl !== undefined)
    return { path: settings.data, end: async () => undefined };
  return openDataDirectory(settings.data);
};

const start = async (parts: Parts, options: StackOptions): Promise<string> => {
  const { settings, log, stop } = options;
  const goOn = (): void => {
    if (stop.aborted) throw new ToolplaneError("canceled", "stopped before it was ready");
  };
  const definitions = readDefinitions(settings, options.cwd, log);
  parts.tracing = await openTracing({ env: options.env, log, registry: parts.metrics.registry });
  const nats = settings.bus && readNatsOptions(settings.bus, `toolplane up ${settings.roles.join(",")}`);
  parts.data = await openData(options);
  const dataDir = parts.data.path;
  // A library writes neither an address nor a token.
  const beside = options.listen === false ? undefined : await findPlaneOf(dataDir);
  if (beside !== undefined && settings.databaseUrl === undefined) await refuseBesidePlane(dataDir, beside);
  const address = await listenFirst(parts, options, dataDir);
  log.info("starting", { version: options.version, address, data: dataDir });
  goOn();
  // Before the store, because a wrong address can be refused without a database.
  if (nats !== undefined) {
    const { leaseSeconds: republishSeconds, bus } = settings;
    parts.bus = await openBus({ nats, replicas: bus?.replicas, republishSeconds, log });
  }
  goOn();
  parts.store = await openStore(options, dataDir);
  goOn();
  const self = selfOf(options);
  const busAway = (): boolean => parts.bus?.connected() === false;
  const { connection, kind } = parts.store;
  parts.processes = {
    ...(kind === "embedded" ? aloneWith(self, busAway) : createPlaneProcesses({ connection, self, busAway, log })),
    noNats: () => nats === undefined,
    waitingOnBus: async (served) => parts.bus?.waiting(served),
  };
  await parts.store.announce(address);
  parts.engine = await openEngine(parts.store, {
    log,
    bundledTarget: BUNDLED_TARGET,
    bundledTools: bundledDefinitions(),
    carrier: parts.bus?.carrierFor(async () => {
      // Before anything is made on NATS, which may belong to another plane.
      const id = await readPlaneId(connection);
      if (parts.bus !== undefined) await beOnlyPlane(parts.bus.link, { id, process: describeProcess(self) }, log);
      return id;
    }),
    allowEnv: (name, projectId) =>
      planEnvUse(settings.envGrants, { name, projectId, destination: "definition" }) === undefined,
    checkTool: checkApiTool,
    checkProfile: createProfileCheck(settings.egressAllow),
    leaseSeconds: settings.leaseSeconds,
    turns: { claimSeconds: settings.leaseSeconds },
    retention: settings.retention,
    maxOpenCalls: settings.maxOpenCalls,
    observe: observeAll([parts.metrics.observe, parts.tracing.calls]),
  });
  goOn();
  await warnOfOtherBus(parts.processes, self, log);
  if (beside !== undefined) await refuseOtherDatabase(dataDir, beside, parts.engine.tokens);
  await prepare(parts.engine, options.listen === false ? undefined : dataDir, definitions, options);
  const { engine, store, bus, tracing } = parts;
  await startServices(parts, { ...options, engine, store, bus, dataDir, observeTurns: tracing.turns });
  goOn();
  if (options.listen !== false && settings.roles.includes("api")) {
    parts.forgetAddress = writeAddressFile(dataDir, address);
    parts.consoleUrl = await makeConsoleLink({ engine: parts.engine, dataDir, address, log });
  }
  parts.phase = "ready";
  return address;
};

const stopParts = async (parts: Parts, { log, guard }: StackOptions): Promise<void> => {
  const end = async (what: string, work: Promise<void> | undefined): Promise<void> => {
    await work?.catch((error: unknown) =>
      log.error("a part could not be stopped properly", { what, reason: String(error) }),
    );
  };
  parts.phase = "draining";
  parts.forgetAddress?.();
  parts.draining.abort();
  await Promise.all([
    end("requests", parts.http?.close(REQUEST_GRACE_MS)),
    ...stopServices(parts).map(([what, work]) => end(what, work)),
  ]);
  await end("engine", parts.engine?.close());
  await end("traces", parts.tracing?.stop(TRACES_GRACE_MS));
  await end("bus", parts.bus?.close());
  await end("store", parts.store?.stop());
  await end("data", parts.data?.end());
  await end("guard", guard.close());
  parts.loop.stop();
};

export const startStack = async (options: StackOptions): Promise<Stack> => {
  const loop = watchLoop({ log: options.log });
  const parts: Parts = {
    phase: "starting",
    draining: new AbortController(),
    loop,
    metrics: createPlaneMetrics({
      engine: () => parts.engine,
      info: describeInfo(options),
      longestPauseMs: loop.longestMs,
      now: systemClock.now,
    }),
  };
  try {
    const address = await start(parts, options);
    const { engine, toolHosts, processes } = parts;
    if (engine === undefined || toolHosts === undefined || processes === undefined)
      throw new ToolplaneError("internal_error", "the plane is ready, but one of its parts is missing");
    return {
      url: parts.http === undefined ? undefined : `http://${address}`,
      consoleUrl: parts.consoleUrl,
      inside: { engine, toolHosts, processes },
      failed: parts.store?.lost ?? new Promise<never>(() => {}),
      stop: () => stopParts(parts, options),
    };
  } catch (error) {
    await stopParts(parts, options);
    throw parts.bus === undefined ? error : explainStart(error);
  }
};
