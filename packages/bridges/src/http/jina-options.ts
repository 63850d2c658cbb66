// `options.jina` of a tool definition, and the older `options.openapi` beside it or in its place, as the settings of one tool of the
// Jina services (utp 9).
//   JO1. There are two hosts, one for each mode, reached by https on the default port. No setting names another one.
//   JO2. The settings are read again for every definition that runs; a definition that says something else is `bad_request`.

import { badRequest, parseWith, type ToolDefinition } from "@toolplane/protocol";
import { z } from "zod";
import { checkHeaders, readMethod } from "./fixed-parts.ts";

const HOSTS = { search: "s.jina.ai", reader: "r.jina.ai" } as const;
export type JinaMode = keyof typeof HOSTS;

const MODES: Readonly<Record<string, JinaMode>> = {
  search: "search",
  reader: "reader",
  read: "reader",
  crawl: "reader",
};

const text = z.string().min(1).max(2_048);
const headers = z.record(text, z.union([z.string(), z.number(), z.boolean()]));

const jinaOptions = z.strictObject({
  mode: text.optional(),
  base_url: text.optional(),
  path: text.optional(),
  /** Of the reader: where in the path the encoded target goes. */
  endpoint_template: text.optional(),
  method: text.optional(),
  auth_env: text.optional(),
  headers: headers.optional(),
  accept: text.optional(),
  /** Arguments that are sent unless the call has its own. */
  defaults: z.record(z.string(), z.json()).optional(),
  timeout_s: z.number().optional(),
  timeout: z.number().optional(),
});

/** What counts of the older object; an OpenAPI operation has more. */
const olderOptions = z.looseObject({
  base_url: text.optional(),
  path: text.optional(),
  method: text.optional(),
  headers: headers.optional(),
  auth: z.looseObject({ env: text.optional() }).optional(),
  timeout_s: z.number().optional(),
  timeout: z.number().optional(),
});

export interface JinaSettings {
  readonly mode: JinaMode;
  readonly host: string;
  /** Has no slash at its end. */
  readonly baseUrl: string;
  /** The path of the search. */
  readonly path: string;
  /** The template of the reader's path. */
  readonly template: string;
  readonly method: string;
  readonly authEnv: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly accept: string;
  readonly defaults: Readonly<Record<string, z.core.util.JSONType>>;
  readonly timeoutMs: number;
}

const DEFAULT_AUTH_ENV = "JINA_API_KEY";
const DEFAULT_TIMEOUT_SECONDS = 30;
const TARGET_PLACE = "{url}";

const hostOf = (address: string | undefined): string => URL.parse(address ?? "")?.hostname ?? "";

const isJinaHost = (host: string): boolean => Object.values(HOSTS).some((known) => known === host);

/**
 * Whether a definition is a tool of the Jina services: it has the options, or the older ones with one of the hosts, or with the path of
 * the search and no address.
 */
export const isJina = ({ options: { jina, openapi } }: ToolDefinition): boolean => {
  if (jina !== undefined && Object.keys(jina).length > 0) return true;
  const { base_url: address, path } = openapi ?? {};
  return address === undefined ? path === "/search" : typeof address === "string" && isJinaHost(hostOf(address));
};

const planMode = (mode: string | undefined, address: string | undefined, path: string | undefined): JinaMode => {
  if (mode !== undefined) {
    const named = Object.hasOwn(MODES, mode) ? MODES[mode] : undefined;
    if (named === undefined) throw badRequest("options.jina.mode is search or reader (also read, crawl)");
    return named;
  }
  const host = hostOf(address);
  if (host === HOSTS.search) return "search";
  if (host === HOSTS.reader) return "reader";
  if (path === "/search") return "search";
  throw badRequest("options.jina names no mode: set mode to search or reader");
};

/** https, the default port, no user, exactly the host of the mode. */
const planBase = (address: string | undefined, host: string): string => {
  const url = URL.parse(address ?? `https://${host}`);
  const isPlain = url !== null && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (url === null || !isPlain || url.protocol !== "https:" || url.port !== "" || url.hostname !== host)
    throw badRequest(`options.jina.base_url is not https://${host}: this mode asks that host only`);
  return `${url.origin}${url.pathname}`.replace(/\/+$/u, "");
};

const withSlash = (path: string): string => (path.startsWith("/") ? path : `/${path}`);

/** Characters that an address parser drops, turns into "/" or reads as the end of the path; and dots that lead upwards. */
const checkPath = (path: string, name: string): string => {
  const isOdd = /[\s\p{Cc}\\?#]/u.test(path) || path.split("/").some((part) => /^(?:\.|%2e){1,2}$/iu.test(part));
  if (isOdd) throw badRequest(`options.jina.${name} is not a path`);
  return withSlash(path);
};

const planTemplate = (template = `/${TARGET_PLACE}`): string => {
  const rest = template.replace(TARGET_PLACE, "");
  if (rest.length === template.length || /[{}]/u.test(rest))
    throw badRequest(`options.jina.endpoint_template has ${TARGET_PLACE} once and no other place`);
  checkPath(rest === "" ? "/" : rest, "endpoint_template");
  return withSlash(template);
};

const writeHeaders = (...given: readonly (z.infer<typeof headers> | undefined)[]): Record<string, string> =>
  Object.fromEntries(
    given.flatMap((one) => Object.entries(one ?? {})).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );

const isLimit = (value: unknown): value is number => typeof value === "number" && value > 0 && Number.isFinite(value);

export const readJina = ({ options }: ToolDefinition): JinaSettings => {
  const jina = parseWith(jinaOptions, options.jina ?? {}, "options.jina");
  const older = parseWith(olderOptions, options.openapi ?? {}, "options.openapi");
  const address = jina.base_url ?? older.base_url;
  const path = jina.path ?? older.path;
  const mode = planMode(jina.mode, address, path);
  const host = HOSTS[mode];
  const limits = [jina.timeout_s, jina.timeout, older.timeout_s, older.timeout, options.timeout_s, options.timeout];
  return {
    mode,
    host,
    baseUrl: planBase(address, host),
    path: checkPath(path ?? "/search", "path"),
    template: planTemplate(jina.endpoint_template),
    method: readMethod(jina.method ?? older.method ?? "GET", "jina"),
    authEnv: jina.auth_env ?? older.auth?.env ?? DEFAULT_AUTH_ENV,
    headers: checkHeaders(writeHeaders(older.headers, jina.headers), "jina"),
    accept: jina.accept ?? "application/json",
    defaults: jina.defaults ?? {},
    timeoutMs: (limits.find(isLimit) ?? DEFAULT_TIMEOUT_SECONDS) * 1_000,
  };
};
