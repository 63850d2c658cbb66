// The MCP servers of the configuration, checked: what is wrong with an entry is said with its line before anything is started.
//   A program gets the variables its entry names and no other; a header gets a variable only if the operator allows it for that host
//   (SEC-7).

import type { ElicitationPolicy } from "@toolplane/bridges/mcp";
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

type McpEntry = NonNullable<FileConfig["mcp_servers"]>[number];

export type McpPlace =
  | {
      readonly command: readonly string[];
      readonly cwd: string;
      readonly env: readonly string[];
      readonly ownUser: boolean;
    }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };

export interface McpSetting {
  readonly name: string;
  readonly place: McpPlace;
  readonly tools: readonly string[];
  readonly trustHints: boolean;
  readonly prefix: string | undefined;
  readonly timeoutSeconds: number | undefined;
  readonly elicitation: ElicitationPolicy;
}

const HEADER = /^[A-Za-z0-9-]{1,64}$/u;
/** Written by the transport itself; an entry must not replace them. */
const OWN_HEADERS: ReadonlySet<string> = new Set(["host", "content-type", "content-length", "accept", "connection"]);

export const ENV_VALUE = "env:";

const readUrl = (text: string, at: string): URL => {
  const url = URL.parse(text);
  // The error does not show the address, because it may hold a password.
  if (url === null || !/^https?:$/u.test(url.protocol))
    throw refuseConfig(`${at}: it looks like https://mcp.example.com/mcp`);
  if (url.username !== "" || url.password !== "")
    throw refuseConfig(`${at}: an address must not hold a user or a password: use headers`);
  return url;
};

const checkHeaders = (
  headers: Readonly<Record<string, string>>,
  at: Place,
  { grants, projectId, host }: { grants: readonly EnvGrant[]; projectId: string; host: string },
): void => {
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!HEADER.test(name) || OWN_HEADERS.has(lower) || lower.startsWith("mcp-"))
      throw refuseConfig(
        `${at("headers", name)}: this header cannot be set: the connection writes it itself, or it is not the name of a header`,
      );
    if (/[\r\n\0]/u.test(value)) throw refuseConfig(`${at("headers", name)}: the value of a header must be one line`);
    if (!value.startsWith(ENV_VALUE)) continue;
    const use = { name: value.slice(ENV_VALUE.length), projectId, destination: { host } };
    const refusal = planEnvUse(grants, use);
    if (refusal !== undefined) throw refuseConfig(`${at("headers", name)}: ${refusal}`);
  }
};

const readPlace = (entry: McpEntry, at: Place, { directory, grants, projectId }: EntryMeans): McpPlace => {
  const { command, url, headers = {}, env = [], user } = entry;
  if ((command === undefined) === (url === undefined))
    throw refuseConfig(`${at("command")}: a server has either a command or a url`);
  if (command !== undefined) {
    if (entry.headers !== undefined) throw refuseConfig(`${at("headers")}: a program has no headers; use env`);
    env.forEach((name, index) => {
      const refusal = planEnvUse(grants, { name, projectId, destination: "program" });
      if (refusal !== undefined) throw refuseConfig(`${at("env", index)}: ${refusal}`);
    });
    return { command, cwd: directory, env, ownUser: user !== "inherit" };
  }
  if (entry.env !== undefined || user !== undefined)
    throw refuseConfig(`${at(entry.env === undefined ? "user" : "env")}: only for a server with a command`);
  const address = readUrl(url ?? "", at("url"));
  checkHeaders(headers, at, { grants, projectId, host: address.hostname });
  return { url: address.href, headers };
};

const readServer = (entry: McpEntry, at: Place, means: EntryMeans): McpSetting => {
  const { name, prefix } = entry;
  checkEntryName(name, at, "a server");
  checkPrefix(prefix, at);
  return {
    name,
    prefix,
    place: readPlace(entry, at, means),
    tools: entry.tools ?? ["*"],
    trustHints: entry.trust_hints ?? false,
    timeoutSeconds: entry.timeout_seconds,
    elicitation: entry.elicitation ?? "refuse",
  };
};

export const readMcpSettings = (
  file: OpenedConfig | undefined,
  grants: readonly EnvGrant[],
  projectId: string,
): readonly McpSetting[] => {
  const means = { directory: file?.directory ?? "/", grants, projectId };
  return readNamed(file, { key: "mcp_servers", what: "MCP servers" }, (entry, at) => readServer(entry, at, means));
};
