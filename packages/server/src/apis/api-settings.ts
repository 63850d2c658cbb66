// The OpenAPI documents of the configuration, checked: what is wrong with an entry is said with its line before anything is started.

import { isAbsolute, join } from "node:path";
import { parseAuthScheme } from "@toolplane/bridges";
import { parseHostPattern } from "@toolplane/egress/policy";
import { understandError } from "@toolplane/protocol";
import type { FileConfig } from "../config/config-file.ts";
import {
  checkEntryName,
  checkPrefix,
  type EntryMeans,
  type OpenedConfig,
  type Place,
  readNamed,
} from "../config/named-entries.ts";
import { refuseConfig } from "../config/refuse.ts";
import { type EnvGrant, planEnvUse } from "../secrets/env-grants.ts";

type ApiEntry = NonNullable<FileConfig["openapi"]>[number];

export interface ApiSetting {
  readonly name: string;
  /** Absolute. A document of the operator's own is in force at once; one from an address waits for a person. */
  readonly spec: { readonly file: string } | { readonly url: string };
  readonly prefix: string | undefined;
  readonly baseUrl: string | undefined;
  readonly allowHosts: readonly string[] | undefined;
  readonly operations: readonly string[] | undefined;
  readonly auth: { readonly scheme: string; readonly env: string } | undefined;
  readonly timeoutSeconds: number | undefined;
}

const WEB = /^https?:\/\//iu;

const within = <T>(at: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    throw refuseConfig(`${at}: ${understandError(error, { keepMessage: true }).message}`);
  }
};

/** An error does not show the address, because it may hold a password. */
const checkAddress = (address: string, at: string): string => {
  const url = URL.parse(address);
  if (url === null || !WEB.test(address)) throw refuseConfig(`${at}: it looks like https://api.example.com/v1`);
  if (url.username !== "" || url.password !== "")
    throw refuseConfig(`${at}: an address must not hold a user or a password: use auth`);
  if (url.hash !== "") throw refuseConfig(`${at}: an address has no fragment`);
  return url.href;
};

const readAuth = (entry: ApiEntry, at: Place, grants: readonly EnvGrant[], projectId: string): ApiSetting["auth"] => {
  if (entry.auth !== undefined && entry.auth_env !== undefined)
    throw refuseConfig(`${at("auth_env")}: give auth or auth_env, not both: auth_env alone is bearer`);
  const auth = entry.auth ?? (entry.auth_env === undefined ? undefined : { scheme: "bearer", env: entry.auth_env });
  if (auth === undefined) return undefined;
  within(at(entry.auth === undefined ? "auth_env" : "auth"), () => parseAuthScheme(auth.scheme, auth.env));
  const refusal = planEnvUse(grants, { name: auth.env, projectId, destination: "definition" });
  if (refusal !== undefined) throw refuseConfig(`${at(entry.auth === undefined ? "auth_env" : "auth")}: ${refusal}`);
  return auth;
};

const readApi = (entry: ApiEntry, at: Place, { directory, grants, projectId }: EntryMeans): ApiSetting => {
  const { name, spec, prefix, base_url: baseUrl, allow_hosts: allowHosts, operations } = entry;
  const { timeout_seconds: timeoutSeconds } = entry;
  checkEntryName(name, at, "an API");
  checkPrefix(prefix, at);
  return {
    name,
    prefix,
    spec: WEB.test(spec)
      ? { url: checkAddress(spec, at("spec")) }
      : { file: isAbsolute(spec) ? spec : join(directory, spec) },
    baseUrl: baseUrl === undefined ? undefined : checkAddress(baseUrl, at("base_url")),
    allowHosts: allowHosts?.map((host, index) => within(at("allow_hosts", index), () => parseHostPattern(host))),
    operations,
    timeoutSeconds,
    auth: readAuth(entry, at, grants, projectId),
  };
};

export const readApiSettings = (
  file: OpenedConfig | undefined,
  grants: readonly EnvGrant[],
  projectId: string,
): readonly ApiSetting[] => {
  const means = { directory: file?.directory ?? "/", grants, projectId };
  return readNamed(file, { key: "openapi", what: "APIs" }, (entry, at) => readApi(entry, at, means));
};
