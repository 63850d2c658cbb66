// connect: the callers' client over HTTP. It sends nothing before the first call.

import { randomBytes } from "node:crypto";
import { badRequest } from "@toolplane/protocol";
import { createHttpPool } from "../http/pool.ts";
import { systemClock } from "../ports/clock.ts";
import { findPlaneBeside } from "../service/plane-beside.ts";
import { planSettings } from "../service/settings.ts";
import { type Api, type ApiHints, createApi, HINTS } from "./api.ts";
import { refuseKeys, typed } from "./given-options.ts";
import { createHttpWay } from "./http-way.ts";
import type { PlaneOptions } from "./means.ts";
import { createPlane, type Plane } from "./plane.ts";

export interface ConnectOptions extends Pick<PlaneOptions, "startupMs" | "onRetry"> {
  /** TOOLPLANE_URL unless given, else the plane of the data directory beside the program, else http://127.0.0.1:7420. */
  readonly url?: string | undefined;
  /** TOOLPLANE_TOKEN unless given. */
  readonly token?: string | undefined;
  /** TOOLPLANE_PROJECT unless given, else demo. */
  readonly project?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Keys of one client: a random name and a number. They sort by time, which keeps the database's index small. */
export const createKeys = (prefix = "client"): (() => string) => {
  const name = `${prefix}-${Date.now().toString(36)}${randomBytes(12).toString("hex")}`;
  let count = 0;
  return () => {
    count += 1;
    return `${name}-${count}`;
  };
};

export interface ApiPlaneOptions extends Omit<PlaneOptions, "way" | "makeKey"> {
  readonly api: Api;
  readonly projectId: string;
  readonly makeKey?: (() => string) | undefined;
  readonly close?: (() => Promise<void>) | undefined;
}

/** A client over an API client that exists already. */
export const createApiPlane = ({ api, projectId, close, ...options }: ApiPlaneOptions): Plane => {
  const { clock = systemClock, makeKey = createKeys() } = options;
  const way = createHttpWay({ api, projectId, clock, close: close ?? (async () => undefined) });
  return createPlane({ ...options, clock, makeKey, way });
};

const NO_TOKEN =
  "set TOOLPLANE_TOKEN to a token that may call: npx toolplane token create --role operator --project <project> makes one";

/** Advice names what the program itself has given, not a variable that it does not use. */
const hintsFor = ({ url, token }: ConnectOptions): ApiHints => ({
  noServer: url === undefined ? HINTS.noServer : "start it with: toolplane up, or connect to another url",
  notOurs: url === undefined ? HINTS.notOurs : "check the url that connect was given",
  noToken: token === undefined ? NO_TOKEN : "check the token that connect was given",
});

const EXAMPLE = "http://127.0.0.1:7420";

/** A caller speaks HTTP: an address of NATS, which services take, is refused in words for callers. The address may hold a password: it is not shown. */
const checkUrl = ({ url }: ConnectOptions, env: Readonly<Record<string, string | undefined>>): void => {
  const given = (url ?? env.TOOLPLANE_URL)?.trim() ?? "";
  if (given === "" || /^https?:/i.test(given)) return;
  const said = url === undefined ? "TOOLPLANE_URL" : "url";
  const meant = /^[\w.-]+:\d+$/.test(given) ? `; write http://${given}` : "";
  throw badRequest(`${said} must be an http or https address such as ${EXAMPLE}: a caller connects over HTTP${meant}`);
};

/** If a variable replaced what is empty, the program would call another plane, or with the rights of another token. */
const checkNamed = ({ url, token, project }: ConnectOptions): void => {
  for (const [name, value] of Object.entries({ url, token, project })) {
    if (value === undefined) continue;
    if (typeof value !== "string") throw badRequest(`connect: the ${name} must be a text, not ${String(value)}`);
    if (value.trim() === "")
      throw badRequest(
        `connect: the ${name} is empty; leave it out to use TOOLPLANE_${name.toUpperCase()}, or give one`,
      );
  }
};

const KEYS: Readonly<Record<keyof ConnectOptions, true>> = {
  url: true,
  token: true,
  project: true,
  startupMs: true,
  onRetry: true,
  env: true,
};

export const connect = (options: ConnectOptions = {}): Plane => {
  refuseKeys(options, { taker: "connect", keys: Object.keys(KEYS) });
  const { env = process.env, startupMs, onRetry } = options;
  checkNamed(options);
  checkUrl(options, env);
  // Callers and services read the same variables.
  const { url, token, projectId } = typed(() =>
    planSettings({ ...options, target: "caller" }, env, findPlaneBeside(env, process.cwd())),
  );
  const pool = createHttpPool({ url });
  const readToken = (): string | undefined => token;
  const api = createApi({ url, send: pool.send, readToken, hints: hintsFor(options), adviseInMessage: true });
  return createApiPlane({ api, projectId, startupMs, onRetry, close: pool.close });
};
