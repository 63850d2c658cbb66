// What a process does besides answering requests, by its roles: tools, hosts, the project manager, the worker, the gateway on
// NATS. Each part is recorded as soon as it runs, so that a start that fails half way stops what already runs.

import { hostname } from "node:os";
import type { TurnObserver } from "@toolplane/agents";
import { type Engine, inTime, LATE, type Log, systemClock } from "@toolplane/engine";
import type { Guard } from "@toolplane/processes";
import type { ToolService } from "@toolplane/sdk";
import { type RunningAgents, runAgents } from "../agents/run-agents.ts";
import { type PmoService, servePmo } from "../agents/serve-pmo.ts";
import { type RunningApis, runApis } from "../apis/run-apis.ts";
import { type RunningHttpGet, runHttpGet } from "../bundled/run-http-get.ts";
import { serveBundled } from "../bundled/serve-bundled.ts";
import { ensureProject } from "../config/apply-config.ts";
import type { Settings } from "../config/settings.ts";
import { type ClockOffset, createClockOffset, NO_OFFSET } from "../gateway/clock-offset.ts";
import { createNatsGateway, type NatsGateway } from "../gateway/nats-gateway.ts";
import type { ServiceMeans } from "../gateway/serve-across.ts";
import { listHosts, startHosts, type ToolHosts } from "../hosts/tool-hosts.ts";
import type { McpServers } from "../mcp-servers/mcp-servers.ts";
import { planMcpView } from "../mcp-servers/mcp-view.ts";
import { runMcpServers } from "../mcp-servers/run-mcp-servers.ts";
import { createEnvSource } from "../secrets/env-grants.ts";
import type { WebhookDelivery } from "../webhooks/deliver-webhooks.ts";
import { runWebhooks } from "../webhooks/run-webhooks.ts";
import type { PlaneBus } from "./open-bus.ts";
import type { Store } from "./store.ts";

export interface Services {
  bundled?: ToolService;
  web?: RunningHttpGet;
  apis?: RunningApis;
  toolHosts?: ToolHosts;
  mcpServers?: McpServers;
  pmo?: PmoService;
  agents?: RunningAgents;
  webhooks?: WebhookDelivery;
  gateway?: NatsGateway;
}

export interface ServicesOptions {
  readonly settings: Settings;
  readonly engine: Engine;
  readonly store: Store;
  /** NATS, if the plane uses it. */
  readonly bus: Pick<PlaneBus, "openGatewayLink"> | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly log: Log;
  readonly guard: Guard;
  readonly dataDir: string;
  /** Told what the turns of this process do, for measuring. */
  readonly observeTurns?: TurnObserver | undefined;
}

/** Supervisors usually kill a process after ten seconds. */
const TOOL_GRACE_MS = 5_000;
/** A working host is ready within a second or two; the start does not wait longer for a silent one. */
const HOSTS_WAIT_MS = 2_000;

/** The first import of a thousand operations takes seconds; a restart with an unchanged document takes one. */
const IMPORTS_WAIT_MS = 10_000;

const measureOffset = async ({ engine, settings }: ServicesOptions): Promise<ClockOffset> => {
  const offset = settings.databaseUrl === undefined ? NO_OFFSET : createClockOffset(engine.databaseNow, systemClock);
  await offset.measure();
  return offset;
};

const startToolHosts = async (services: Services, offset: ClockOffset, options: ServicesOptions): Promise<void> => {
  const { engine, settings, log, pid, env, guard } = options;
  const { hosts, project: projectId } = settings;
  if (hosts.length > 0) await ensureProject(engine.projects, projectId, projectId);
  const means = { engine, clock: systemClock, random: Math.random, log, offset };
  const toolHosts = startHosts({ ...means, settings: hosts, projectId, pid, env, guard, closed: [settings.data] });
  services.toolHosts = toolHosts;
  await inTime(systemClock, HOSTS_WAIT_MS, toolHosts.tried);
  for (const { setting, phase } of toolHosts.list(projectId))
    if (phase === "starting")
      log.warn("a host is still starting; its tools come when it is ready", { host: setting.name });
};

const startMcp = async (services: Services, offset: ClockOffset, options: ServicesOptions): Promise<void> => {
  const { engine, settings, log } = options;
  if (settings.mcpServers.length === 0) return;
  await ensureProject(engine.projects, settings.project, settings.project);
  const servers = await runMcpServers({ ...options, clock: systemClock, random: Math.random, offset });
  services.mcpServers = servers;
  if (services.toolHosts !== undefined) services.toolHosts = servers.beside(services.toolHosts);
  if ((await inTime(systemClock, HOSTS_WAIT_MS, servers.tried)) === LATE)
    log.warn("MCP servers are still starting; their tools come when they are ready");
};

const startApis = async (services: Services, means: ServiceMeans, options: ServicesOptions): Promise<void> => {
  const { engine, settings, env, log } = options;
  if (settings.apis.length > 0) await ensureProject(engine.projects, settings.project, settings.project);
  const apis = runApis({ ...means, settings, env });
  services.apis = apis;
  if ((await inTime(systemClock, IMPORTS_WAIT_MS, apis.tried)) === LATE)
    log.warn("OpenAPI documents are still being imported; their tools come later");
};

const meansOf = (what: string, offset: ClockOffset, options: ServicesOptions): ServiceMeans => {
  const { engine, store, log, pid } = options;
  return {
    engine,
    clock: systemClock,
    random: Math.random,
    log,
    offset,
    holder: `${what} (process ${pid} on ${hostname()})`,
    storeBack: () => (store.ready() ? undefined : store.untilReady()),
  };
};

const startAgents = ({ engine, settings, log, env, pid, observeTurns }: ServicesOptions): Promise<RunningAgents> =>
  runAgents({
    engine,
    log,
    workerTargets: settings.workerTargets,
    workerId: `worker (process ${pid} on ${hostname()})`,
    envSource: createEnvSource(settings.envGrants, env),
    egressAllow: settings.egressAllow,
    observe: observeTurns,
  });

/** Tools start before the agents that call them, so that the first turn after a restart finds its tools. */
export const startServices = async (services: Services, options: ServicesOptions): Promise<void> => {
  const { engine, settings, bus, log } = options;
  const offset = await measureOffset(options);
  const means = (what: string) => meansOf(what, offset, options);
  services.toolHosts = listHosts(settings.hosts, settings.project, settings.mcpServers.map(planMcpView));
  if (settings.roles.includes("tools")) {
    services.bundled = serveBundled(means("bundled tools"));
    services.web = runHttpGet({ ...means("http_get"), settings });
    await startApis(services, means("API tools"), options);
    await startToolHosts(services, offset, options);
    await startMcp(services, offset, options);
  }
  if (settings.roles.includes("pmo")) services.pmo = await servePmo(means("project manager"));
  if (settings.roles.includes("worker")) services.agents = await startAgents(options);
  if (settings.roles.includes("api") && bus !== undefined)
    services.gateway = await createNatsGateway({ engine, link: await bus.openGatewayLink(), log, offset });
  if (settings.roles.includes("api") && settings.webhookHosts.length > 0)
    services.webhooks = runWebhooks({ engine, settings, dataDir: options.dataDir, log });
};

/** What runs to be stopped, by name: all at once, each with its own grace. */
export const stopServices = (services: Services): readonly (readonly [string, Promise<void> | undefined])[] => [
  ["bundled tools", services.bundled?.stop({ drainMs: TOOL_GRACE_MS })],
  ["http_get", services.web?.stop(TOOL_GRACE_MS)],
  ["API tools", services.apis?.stop(TOOL_GRACE_MS)],
  ["hosts", services.toolHosts?.stop(TOOL_GRACE_MS)],
  ["MCP servers", services.mcpServers?.stop(TOOL_GRACE_MS)],
  ["project manager", services.pmo?.stop(TOOL_GRACE_MS)],
  ["worker", services.agents?.stop(TOOL_GRACE_MS)],
  ["gateway", services.gateway?.stop()],
  ["webhooks", services.webhooks?.stop()],
];
