// The hosts of the configuration, checked: what is wrong with one is said with its line before anything is started.
//   A host gets the variables its entry names and no other; those that open this system itself are refused (SEC-7).

import { DEFAULT_HOST_LIMITS, type HostLimits, type HostOptions, hostTarget } from "@toolplane/bridges";
import type { JsonObject } from "@toolplane/protocol";
import { isEnvName, isOwnEnvName } from "@toolplane/protocol/registry";
import type { FileConfig } from "../config/config-file.ts";
import { checkEntryName, checkPrefix, type OpenedConfig, type Place, readNamed } from "../config/named-entries.ts";
import { refuseConfig } from "../config/refuse.ts";
import { configSecrets, namedVariables } from "./host-config.ts";

type HostEntry = NonNullable<FileConfig["hosts"]>[number];

export interface HostSetting {
  readonly name: string;
  readonly target: string;
  readonly options: HostOptions;
  readonly prefix: string | undefined;
  readonly timeoutSeconds: number | undefined;
  readonly session: "none" | "agent" | "argument";
  readonly control: "allow" | "strip";
}

const camelCase = (name: string): string =>
  name
    .split("_")
    .map((word, index) => (index === 0 ? word : `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`))
    .join("");

const readLimits = (entry: HostEntry, at: Place): Partial<HostLimits> => {
  const limits: Record<string, number> = entry.pool === undefined ? {} : { pool: entry.pool };
  for (const [key, value] of Object.entries(entry.limits ?? {})) {
    const name = camelCase(key);
    if (name === "pool" || !Object.hasOwn(DEFAULT_HOST_LIMITS, name))
      throw refuseConfig(`${at("limits", key)}: there is no limit ${JSON.stringify(key)} of a host`);
    limits[name] = value;
  }
  // The runner sends a deadline with every call; this one is for the other requests.
  if (entry.timeout_seconds !== undefined) limits.callMs ??= entry.timeout_seconds * 1_000;
  return limits;
};

const checkName = (name: string, at: string): void => {
  if (!isEnvName(name)) throw refuseConfig(`${at}: ${JSON.stringify(name)} is not the name of a variable`);
  if (isOwnEnvName(name) && name !== "PATH")
    throw refuseConfig(`${at}: ${name} belongs to the system and is never given to a host`);
};

const checkEnv = (names: readonly string[], at: Place): void => {
  names.forEach((name, index) => {
    checkName(name, at("env", index));
  });
};

const checkConfig = (config: JsonObject, at: Place): void => {
  for (const { path, name } of namedVariables(config)) checkName(name, at("config", ...path));
};

const readHost = (entry: HostEntry, directory: string, at: Place): HostSetting => {
  const { name, sandbox } = entry;
  checkEntryName(name, at, "a host");
  checkPrefix(entry.prefix, at);
  checkEnv(entry.env ?? [], at);
  checkConfig((entry.config ?? {}) as JsonObject, at);
  return {
    name,
    target: hostTarget(name),
    prefix: entry.prefix,
    timeoutSeconds: entry.timeout_seconds,
    session: entry.session ?? "none",
    control: entry.control ?? "strip",
    options: {
      name,
      command: entry.command,
      cwd: directory,
      ownUser: entry.user !== "inherit",
      limits: readLimits(entry, at),
      ...(entry.config === undefined ? {} : { config: entry.config as JsonObject }),
      ...(entry.env === undefined ? {} : { env: entry.env }),
      ...(entry.retry_safe === undefined ? {} : { retrySafe: entry.retry_safe }),
      ...(sandbox === undefined
        ? {}
        : {
            sandbox: {
              ...(sandbox.read === undefined ? {} : { read: sandbox.read }),
              ...(sandbox.write === undefined ? {} : { write: sandbox.write }),
              ...(sandbox.child_process === undefined ? {} : { childProcess: sandbox.child_process }),
            },
          }),
    },
  };
};

export const readHostSettings = (file: OpenedConfig | undefined): readonly HostSetting[] =>
  readNamed(file, { key: "hosts", what: "hosts" }, (entry, at) => readHost(entry, file?.directory ?? "/", at));

/** Variables that are not secret; every other variable of a host is a secret and is removed from what it says (I8). */
const HARMLESS: ReadonlySet<string> = new Set(["PATH", "HOME", "TMPDIR", "LANG", "LANGUAGE", "TZ", "TERM", "NODE_ENV"]);

export const hostSecrets = (
  { options }: HostSetting,
  env: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, string> => {
  const secrets = new Map(configSecrets(options.config ?? {}, env));
  for (const name of options.env ?? []) {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined && value.trim() !== "" && !HARMLESS.has(name) && !name.startsWith("LC_"))
      secrets.set(name, value);
  }
  return secrets;
};
