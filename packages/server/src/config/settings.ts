// What the stack runs with, decided from the configuration file, the environment and the flags; the later source wins. Pure.
//   CF1. A request for something that this version cannot do is refused with a sentence; nothing is silently ignored.
//   CF2. Fail closed: without configuration it binds to loopback, lets out no variable and reaches no local address (SEC-16).

import { isAbsolute, join, resolve } from "node:path";
import type { AllowedOrigin } from "@toolplane/egress/policy";
import type { RetentionPolicy } from "@toolplane/engine";
import { isToken, type JsonObject } from "@toolplane/protocol";
import type { FileLimits, ProjectLimits } from "@toolplane/protocol/registry";
import { type ApiSetting, readApiSettings } from "../apis/api-settings.ts";
import { type HostSetting, readHostSettings } from "../hosts/host-settings.ts";
import { type LogLevel, parseLogLevel } from "../log/log.ts";
import { type McpSetting, readMcpSettings } from "../mcp-servers/mcp-settings.ts";
import type { EnvGrant } from "../secrets/env-grants.ts";
import type { ServiceEnvs } from "../secrets/service-secrets.ts";
import { type BusSetting, planBus } from "./bus-setting.ts";
import { planEgressAllow, planHttpGetHosts, planWebhookHosts } from "./egress-setting.ts";
import { refuseConfig } from "./refuse.ts";
import { planRetention } from "./retention-setting.ts";
import { checkHostEnv, planConfiguredEnvs, planEnvGrants } from "./secrets-setting.ts";
import { filled, readValue, type SettingsInput } from "./setting-value.ts";

/** The file names the limits of calls under `project`; a project has them all on one level. */
const planLimits = ({ project, plane: _plane, ...others }: FileLimits): ProjectLimits | undefined => {
  const limits = { ...project, ...others };
  return Object.keys(limits).length === 0 ? undefined : limits;
};

export const UP_ROLES = ["api", "worker", "pmo", "tools"] as const;
export type UpRole = (typeof UP_ROLES)[number];

/** An agent of the file, and where it stands there. */
export interface ConfigAgent {
  readonly where: string;
  readonly value: JsonObject;
}

export interface Settings {
  readonly port: number;
  readonly host: string;
  /** Further names of this server in Host headers, such as the name of a proxy in front. */
  readonly allowedHosts: readonly string[];
  /** Absolute. */
  readonly data: string;
  /** Undefined: the embedded server. */
  readonly databaseUrl: string | undefined;
  /** The URL of the login that owns the tables, for a PostgreSQL of your own; undefined: `databaseUrl` also runs migrations. */
  readonly migrationDatabaseUrl: string | undefined;
  /** Undefined: everything travels over the database. */
  readonly bus: BusSetting | undefined;
  readonly roles: readonly UpRole[];
  readonly demo: boolean;
  readonly ephemeral: boolean;
  /** Where the configuration's tools, profiles and agents go. */
  readonly project: string;
  /** True when the project was named explicitly: then it is made if it is missing. */
  readonly projectNamed: boolean;
  /** Absolute file patterns. */
  readonly tools: readonly string[];
  readonly profiles: readonly string[];
  readonly agents: readonly ConfigAgent[];
  /** Limits of the file's project; undefined: the file says nothing, and the stored limits stay. */
  readonly limits: ProjectLimits | undefined;
  /** How many calls may be open in the whole plane; undefined: the engine's default. */
  readonly maxOpenCalls: number | undefined;
  /** The pools whose agents this process thinks for. */
  readonly workerTargets: readonly string[];
  readonly hosts: readonly HostSetting[];
  /** OpenAPI documents whose operations become tools. */
  readonly apis: readonly ApiSetting[];
  /** MCP servers whose tools become tools. */
  readonly mcpServers: readonly McpSetting[];
  /** Which projects may use which variables, and at which hosts. */
  readonly envGrants: readonly EnvGrant[];
  /** Which variables fill parameters of the tools that this plane runs, whatever their definitions name. */
  readonly serviceEnvs: ServiceEnvs;
  /** Addresses that may be reached although they are local, plain http or on another port. */
  readonly egressAllow: readonly AllowedOrigin[];
  /** Hosts that the bundled tool `http_get` may ask; none: it is off. */
  readonly httpGetHosts: readonly string[];
  /** Hosts that webhooks may be sent to; none: they are off. */
  readonly webhookHosts: readonly string[];
  /** What seals the secrets of webhooks; undefined: a file of the data directory. */
  readonly webhookKey: string | undefined;
  /** How long the holder of a call or a turn may be silent before it is offered to others; undefined: the engine's default. */
  readonly leaseSeconds: number | undefined;
  /** Undefined: nothing is ever deleted. */
  readonly retention: RetentionPolicy | undefined;
  readonly logLevel: LogLevel;
  /** A token that opens GET /metrics and nothing else. */
  readonly metricsToken: string | undefined;
}

const DEFAULT_PORT = 7420;
const ANY_FREE_PORT = 0;
const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_DATA = ".toolplane";
/** What clients ask for unless told otherwise. */
const DEFAULT_PROJECT = "demo";
const MAX_PORT = 65_535;

const parsePort = (text: string): number => {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > MAX_PORT)
    throw refuseConfig(`a port is a whole number from 0 to ${MAX_PORT}, not ${text}`);
  return port;
};

/** A process without the API only answers health checks, so it takes any free port: several fit on one machine. */
const readPort = ({ flags, env }: SettingsInput, roles: readonly UpRole[]): number => {
  const given = flags.port === undefined ? filled(env.TOOLPLANE_PORT) : String(flags.port);
  return parsePort(given ?? String(roles.includes("api") ? DEFAULT_PORT : ANY_FREE_PORT));
};

const parseHosts = (text: string | undefined): readonly string[] =>
  (text ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "")
    .map((name) => {
      if (name.includes("*") || name.includes("/") || name.includes(" "))
        throw refuseConfig(`TOOLPLANE_ALLOWED_HOSTS is a list of host names, not ${JSON.stringify(name)}`);
      return name;
    });

/** The shortest lease: a service sends a heartbeat every third of it, and a worker every second. */
const LEAST_LEASE_SECONDS = 3;
const MOST_LEASE_SECONDS = 600;

const parseLease = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (!(seconds >= LEAST_LEASE_SECONDS && seconds <= MOST_LEASE_SECONDS))
    throw refuseConfig(`TOOLPLANE_LEASE_SECONDS is from ${LEAST_LEASE_SECONDS} to ${MOST_LEASE_SECONDS}, not ${text}`);
  return seconds;
};

/** Shorter ones can be guessed. */
const LEAST_SECRET = 16;

const parseSecretText = (name: string, text: string | undefined): string | undefined => {
  if (text !== undefined && (text.length < LEAST_SECRET || /[^!-~]/.test(text)))
    throw refuseConfig(`${name} has ${LEAST_SECRET} or more characters, without blanks`);
  return text;
};

const parseSwitch = (name: string, text: string | undefined): boolean => {
  if (text === undefined || text === "0" || text === "false") return false;
  if (text === "1" || text === "true") return true;
  throw refuseConfig(`${name} is true or false, not ${text}`);
};

const parseRoles = (given: readonly string[] | undefined): readonly UpRole[] => {
  if (given === undefined) return UP_ROLES;
  const asked = new Set(given.map((role) => role.trim()).filter((role) => role !== ""));
  if (asked.size === 0) throw refuseConfig(`name at least one role: ${UP_ROLES.join(", ")}`);
  for (const role of asked) {
    if (!UP_ROLES.some((known) => known === role))
      throw refuseConfig(`there is no role ${role}; there are ${UP_ROLES.join(", ")}`);
  }
  return UP_ROLES.filter((role) => asked.has(role));
};

const DEFAULT_WORKER_TARGET = "worker_generic";

const parseTargets = (given: readonly string[] = [DEFAULT_WORKER_TARGET]): readonly string[] => {
  const targets = given.map((target) => target.trim()).filter((target) => target !== "");
  for (const target of targets)
    if (!isToken(target)) throw refuseConfig(`${JSON.stringify(target)} is not the name of a worker target`);
  if (targets.length === 0) throw refuseConfig("worker_targets must name at least one worker target");
  return targets;
};

const checkDatabaseUrl = (url: string | undefined): string | undefined => {
  if (url === undefined) return undefined;
  // The error does not show the URL, because it may hold a password.
  if (!["postgres://", "postgresql://"].some((scheme) => url.startsWith(scheme)))
    throw refuseConfig(
      "the database URL must begin with postgresql://, such as postgresql://user:password@host:5432/database",
    );
  return url;
};

const readProject = (input: SettingsInput): { readonly project: string; readonly projectNamed: boolean } => {
  const named = filled(input.env.TOOLPLANE_PROJECT) ?? readValue(input, ["project"], input.file?.config.project);
  if (named === undefined) return { project: DEFAULT_PROJECT, projectNamed: false };
  if (!isToken(named)) throw refuseConfig("a project's name is made of the characters A-Z a-z 0-9 _ -");
  return { project: named, projectNamed: true };
};

export const planSettings = (input: SettingsInput): Settings => {
  const { flags, env, cwd, file } = input;
  const given = (flag: string | undefined, name: string): string | undefined => filled(flag) ?? filled(env[name]);
  const patterns = (list: readonly string[] | undefined): readonly string[] =>
    (list ?? []).map((pattern) => (isAbsolute(pattern) ? pattern : join(file?.directory ?? cwd, pattern)));
  const databaseUrl = checkDatabaseUrl(
    given(flags.databaseUrl, "TOOLPLANE_DATABASE_URL") ??
      readValue(input, ["database", "url"], file?.config.database?.url),
  );
  const migrationDatabaseUrl = checkDatabaseUrl(
    filled(env.TOOLPLANE_MIGRATION_DATABASE_URL) ??
      readValue(input, ["database", "migration_url"], file?.config.database?.migration_url),
  );
  if (migrationDatabaseUrl !== undefined && databaseUrl === undefined)
    throw refuseConfig(
      "a URL for migrations (TOOLPLANE_MIGRATION_DATABASE_URL, database.migration_url) needs the one to run with: give --database-url too",
    );
  const ephemeral = flags.ephemeral ?? parseSwitch("TOOLPLANE_EPHEMERAL", filled(env.TOOLPLANE_EPHEMERAL));
  if (ephemeral && databaseUrl !== undefined)
    throw refuseConfig(
      "--ephemeral deletes its data at the end, so it cannot be used with --database-url: choose one of them",
    );
  const { project, projectNamed } = readProject(input);
  const hosts = readHostSettings(file);
  const envGrants = planEnvGrants(input, project);
  checkHostEnv(input, hosts, envGrants, project);
  const apis = readApiSettings(file, envGrants, project);
  const mcpServers = readMcpSettings(file, envGrants, project);
  const roles = parseRoles(flags.roles ?? filled(env.TOOLPLANE_ROLES)?.split(","));
  return {
    port: readPort(input, roles),
    host: given(flags.host, "TOOLPLANE_HOST") ?? DEFAULT_HOST,
    allowedHosts: parseHosts(filled(env.TOOLPLANE_ALLOWED_HOSTS)),
    data: resolve(cwd, given(flags.data, "TOOLPLANE_DATA") ?? DEFAULT_DATA),
    databaseUrl,
    migrationDatabaseUrl,
    bus: planBus(input),
    roles,
    demo: flags.demo ?? parseSwitch("TOOLPLANE_DEMO", filled(env.TOOLPLANE_DEMO)),
    ephemeral,
    project,
    projectNamed,
    tools: patterns(file?.config.tools),
    profiles: patterns(file?.config.profiles),
    agents: (file?.config.agents ?? []).map((agent, index) => ({
      where: `${file?.where(["agents", index])}: agents[${index}]`,
      value: agent as JsonObject,
    })),
    limits: file?.config.limits && planLimits(file.config.limits),
    maxOpenCalls: file?.config.limits?.plane?.open_calls,
    workerTargets: parseTargets(filled(env.TOOLPLANE_WORKER_TARGETS)?.split(",") ?? file?.config.worker_targets),
    hosts,
    apis,
    mcpServers,
    envGrants,
    serviceEnvs: planConfiguredEnvs(input, envGrants),
    egressAllow: planEgressAllow(input),
    httpGetHosts: planHttpGetHosts(input),
    webhookHosts: planWebhookHosts(input),
    webhookKey: parseSecretText("TOOLPLANE_WEBHOOK_KEY", filled(env.TOOLPLANE_WEBHOOK_KEY)),
    leaseSeconds: parseLease(filled(env.TOOLPLANE_LEASE_SECONDS)),
    retention: planRetention(input),
    logLevel: parseLogLevel(filled(env.TOOLPLANE_LOG_LEVEL) ?? "info"),
    metricsToken: parseSecretText("TOOLPLANE_METRICS_TOKEN", filled(env.TOOLPLANE_METRICS_TOKEN)),
  };
};
