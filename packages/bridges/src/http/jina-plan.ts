// The plan of a tool of the Jina services: search and reader, as configurations of the HTTP executor (utp 9, jina).
//   JP1. The value of a variable never enters the reader's address, because the reader passes its query string on to the site that it
//        reads. It enters the search's only where the definition says `secrets_in_url`.
//   JP2. Arguments that the definition itself fixes or presets, and that the services do not know, are bookkeeping of the plane: they
//        are not sent.
//   JP3. Without the key a search is `auth_failed`; the reader is asked without it.

import {
  badRequest,
  isRecord,
  type JsonObject,
  type JsonValue,
  resolveOptions,
  type ToolDefinition,
} from "@toolplane/protocol";
import type { HttpPlan, PlanMeans } from "./http-plan.ts";
import { isJinaParameter, readerHeader } from "./jina-names.ts";
import { type JinaSettings, readJina } from "./jina-options.ts";
import type { HttpRequest } from "./plan-request.ts";
import { encodeText, isAbsent, plainText } from "./write-parameter.ts";

/** What the plan knows of a definition besides the settings. */
interface Ground {
  readonly settings: JinaSettings;
  /** Arguments whose values came from variables. */
  readonly secret: ReadonlySet<string>;
  /** Arguments that the definition fixes or presets. */
  readonly managed: ReadonlySet<string>;
  readonly secretsInUrl: boolean;
}

type Arguments = readonly (readonly [string, JsonValue])[];

/** The first of these arguments that has a text; both are taken out of the others. */
const takeText = (args: JsonObject, names: readonly string[], what: string): string => {
  for (const name of names) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (typeof value === "string" && value.trim() !== "") return value;
  }
  throw badRequest(`${what} needs ${names.join(" or ")}, a text that is not blank`);
};

const without = (args: JsonObject, names: readonly string[], { managed }: Ground): Arguments =>
  Object.entries(args).filter(
    ([name, value]) => !names.includes(name) && !isAbsent(value) && (isJinaParameter(name) || !managed.has(name)),
  );

const pairsOf = ([name, value]: readonly [string, JsonValue]): readonly string[] =>
  (Array.isArray(value) ? (value as JsonValue[]) : [value])
    .filter((item) => !isAbsent(item))
    .map((item) => `${encodeText(name)}=${encodeText(plainText(item))}`);

/** A list is written with commas, anything else that is not text as JSON. */
const headerText = (value: JsonValue): string =>
  Array.isArray(value) ? (value as JsonValue[]).map(plainText).join(",") : plainText(value);

const isGet = ({ method }: JinaSettings): boolean => method === "GET" || method === "HEAD";

interface Sent extends Pick<HttpRequest, "leftOut" | "dropped"> {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: JsonObject | undefined;
}

const bodyOf = (pairs: Arguments): JsonObject => Object.fromEntries(pairs);

const planSearch = (args: JsonObject, ground: Ground): Sent => {
  const { settings, secret, secretsInUrl } = ground;
  const q = takeText(args, ["q", "query"], "a search");
  const rest = without(args, ["q", "query"], ground);
  const url = `${settings.baseUrl}${settings.path}`;
  if (!isGet(settings)) return { url, body: { q, ...bodyOf(rest) }, leftOut: [] };
  const isLeftOut = ([name]: readonly [string, JsonValue]): boolean => secret.has(name) && !secretsInUrl;
  const query = [["q", q] as const, ...rest.filter((pair) => !isLeftOut(pair))].flatMap(pairsOf).join("&");
  return { url: `${url}?${query}`, leftOut: rest.filter(isLeftOut).map(([name]) => name) };
};

const planReader = (args: JsonObject, ground: Ground): Sent => {
  const { settings } = ground;
  const target = takeText(args, ["url", "target_url"], "the reader");
  const rest = without(args, ["url", "target_url"], ground);
  // A function, because a target may hold "$&".
  const url = `${settings.baseUrl}${settings.template.replace("{url}", () => encodeText(target.trim()))}`;
  if (!isGet(settings)) return { url, body: bodyOf(rest), leftOut: [] };
  const headers = rest.flatMap(([name, value]) => {
    const header = readerHeader(name);
    return header === undefined ? [] : [[header.toLowerCase(), headerText(value)] as const];
  });
  const dropped = rest.map(([name]) => name).filter((name) => readerHeader(name) === undefined);
  return { url, headers: Object.fromEntries(headers), leftOut: [], dropped };
};

const checkHost = (address: string, { host }: JinaSettings): string => {
  const url = new URL(address);
  if (url.origin === `https://${host}` && url.hash === "") return url.href;
  throw badRequest(`the arguments would lead the request away from ${host}`);
};

const planRequest = (means: PlanMeans, ground: Ground): HttpRequest => {
  const { settings } = ground;
  const args = { ...settings.defaults, ...means.arguments } as JsonObject;
  const sent = (settings.mode === "search" ? planSearch : planReader)(args, ground);
  const key = means.secrets[settings.authEnv];
  return {
    url: checkHost(sent.url, settings),
    method: settings.method,
    headers: {
      accept: settings.accept,
      ...(sent.headers ?? {}),
      ...settings.headers,
      ...(sent.body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: sent.body === undefined ? undefined : JSON.stringify(sent.body),
    leftOut: sent.leftOut,
    dropped: sent.dropped,
    ...(key === undefined ? { withoutKey: settings.authEnv } : {}),
  };
};

const namesOf = (values: unknown): readonly string[] => (isRecord(values) ? Object.keys(values) : []);

export const createJinaPlan = (definition: ToolDefinition): HttpPlan => {
  const settings = readJina(definition);
  const { args, envs = {} } = definition.options;
  const { mode, host, authEnv, timeoutMs } = settings;
  const ground: Ground = {
    settings,
    secret: new Set(Object.keys(envs)),
    managed: new Set([...namesOf(args?.fixed), ...namesOf(args?.defaults)]),
    secretsInUrl: resolveOptions(definition.options).secretsInUrl,
  };
  return {
    declared: {
      secrets: [authEnv],
      envs,
      optionalSecrets: mode === "reader" ? [authEnv] : [],
      sentTo: host,
    },
    allowHosts: [host],
    timeoutMs,
    // Both only read.
    isRepeatable: isGet(settings),
    request: (means) => planRequest(means, ground),
  };
};
