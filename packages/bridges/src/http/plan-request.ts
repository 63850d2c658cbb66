// From an operation and the arguments of a call to one request. Pure.
//   PQ1. The request goes below the operation's base address: its origin and the start of its path cannot be changed by arguments.
//   PQ2. The value of a variable enters the path or the query only where the definition says `secrets_in_url`; otherwise the
//        argument is left out and named in `leftOut`.
//   PQ3. Fixed headers and the credential stand above parameters of the same name: such a parameter is not sent.
//   PQ4. No name that a caller chose stands in the query or the path beside that of a parameter that the author manages.

import { foldName, type JsonObject, type JsonValue, ToolplaneError } from "@toolplane/protocol";
import { checkNames } from "./name-clashes.ts";
import type { HttpOperation, HttpParameter } from "./operation.ts";
import { leadsUpwards } from "./path-rules.ts";
import { planAuth } from "./plan-auth.ts";
import { writeBody } from "./write-body.ts";
import {
  encodeText,
  isAbsent,
  pairsOf,
  pathNames,
  writeCookie,
  writeHeader,
  writePairs,
  writePath,
} from "./write-parameter.ts";

export interface RequestMeans {
  readonly arguments: JsonObject;
  /** Arguments whose values came from variables. */
  readonly secretArguments: ReadonlySet<string>;
  /** Folded names of the arguments that the author manages; the caller has no say in their values. */
  readonly managed: ReadonlySet<string>;
  readonly secretsInUrl: boolean;
  /** The value of the credential's variable. */
  readonly credential: string | undefined;
  readonly idempotencyKey: string;
  /** Random text for the boundary of a multipart form. */
  readonly boundary: string;
}

export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  /** Arguments that were not sent because their secret values would have entered the address. */
  readonly leftOut: readonly string[];
  /** Arguments that were not sent because the request has no place for them. */
  readonly dropped?: readonly string[] | undefined;
  /** The variable whose value would have been the credential: the request is sent without one. */
  readonly withoutKey?: string | undefined;
}

const PLACE = /\{([^{}]*)\}/gu;

/** Methods whose arguments, unless parameters are declared, are the query. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(["GET", "HEAD"]);

const plainParameter = (name: string, place: HttpParameter["in"]): HttpParameter => ({
  name,
  in: place,
  argument: name,
  style: place === "path" ? "simple" : "form",
  explode: place !== "path",
  allowReserved: false,
  json: false,
});

const placesIn = (path: string): readonly string[] => [...path.matchAll(PLACE)].map(([, name = ""]) => name);

/** Parameters that a definition written by hand does not declare: those of its path, then all arguments in one place. */
const impliedParameters = ({ path, method }: HttpOperation, args: JsonObject): readonly HttpParameter[] => {
  const inPath = placesIn(path);
  const query = WITHOUT_BODY.has(method) ? Object.keys(args).filter((name) => !inPath.includes(name)) : [];
  return [
    ...inPath.map((name) => plainParameter(name, "path")),
    ...query.map((name) => ({ ...plainParameter(name, "query") })),
  ];
};

const own = (args: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(args, name) ? args[name] : undefined;

/** The credential takes the place of a parameter of its name. */
const isBehind = ({ name, in: place }: HttpParameter, { auth }: HttpOperation): boolean =>
  (auth?.kind === "query" || auth?.kind === "cookie") && auth.kind === place && foldName(name) === foldName(auth.name);

const isInUrl = ({ in: place }: HttpParameter): boolean => place === "path" || place === "query";

/** Names the parameter whose value does it, if it is one alone. */
const leadsElsewhere = (values: ReadonlyMap<string, string>): ToolplaneError => {
  const name = [...values].find(([, value]) => leadsUpwards(value))?.[0];
  const what = name === undefined ? "the path would have" : `the value of ${name} has`;
  return new ToolplaneError(
    "bad_request",
    `${what} a part "." or "..", which leads to another resource: send a value without such a part`,
  );
};

const expandPath = (path: string, values: ReadonlyMap<string, string>): string => {
  const written = path.replace(PLACE, (_place, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new ToolplaneError("bad_request", `the path needs a value for ${name}`);
    return value;
  });
  if (leadsUpwards(written)) throw leadsElsewhere(values);
  return written === "" || written.startsWith("/") ? written : `/${written}`;
};

const checkBelow = (url: URL, baseUrl: string): URL => {
  const base = new URL(baseUrl);
  const isBelow = base.pathname === "/" || `${url.pathname}/`.startsWith(`${base.pathname}/`);
  if (url.origin === base.origin && isBelow && url.hash === "") return url;
  throw new ToolplaneError("bad_request", "the arguments would lead the request away from the base address");
};

const bodyOf = (operation: HttpOperation, means: RequestMeans, parameters: readonly HttpParameter[]) => {
  const { body, method } = operation;
  if (body !== undefined) return writeBody(body, own(means.arguments, body.argument), means.boundary);
  if (operation.parameters !== undefined || WITHOUT_BODY.has(method)) return undefined;
  const used = new Set(parameters.map(({ argument }) => argument));
  const rest = Object.fromEntries(Object.entries(means.arguments).filter(([name]) => !used.has(name)));
  return { contentType: "application/json", body: JSON.stringify(rest) };
};

export const planRequest = (operation: HttpOperation, means: RequestMeans): HttpRequest => {
  const { arguments: args, secretArguments, secretsInUrl } = means;
  const parameters = operation.parameters ?? impliedParameters(operation, args);
  const isLeftOut = (parameter: HttpParameter): boolean =>
    isInUrl(parameter) && secretArguments.has(parameter.argument) && !secretsInUrl;
  const dropped = parameters.filter((one) => isBehind(one, operation) && !isAbsent(own(args, one.argument)));
  const sent = parameters.filter((parameter) => !isLeftOut(parameter) && !isBehind(parameter, operation));
  const at = (place: HttpParameter["in"]): readonly HttpParameter[] => sent.filter((one) => one.in === place);
  const valueAt = ({ argument }: HttpParameter): JsonValue | undefined => own(args, argument);
  const given = (place: HttpParameter["in"]): readonly (readonly [HttpParameter, JsonValue])[] =>
    at(place).flatMap((parameter) => {
      const value = valueAt(parameter);
      return isAbsent(value) ? [] : [[parameter, value] as const];
    });

  const namesAt = (place: "path" | "query", written: (parameter: HttpParameter) => readonly string[]) =>
    parameters
      .filter((one) => one.in === place && !isBehind(one, operation))
      .map((one) => ({
        argument: one.argument,
        name: one.name,
        written: isLeftOut(one) ? [] : written(one),
        isManaged: means.managed.has(foldName(one.argument)),
        isUndeclared: operation.parameters === undefined && place === "query",
      }));

  const auth = planAuth(operation.auth, means.credential);
  const pairs = new Map(at("query").map((parameter) => [parameter, pairsOf(parameter, valueAt(parameter))]));
  checkNames(
    namesAt("query", (one) => pairs.get(one)?.map(([name]) => name) ?? []),
    operation.auth?.kind === "query" ? operation.auth.name : undefined,
  );
  checkNames(namesAt("path", (one) => pathNames(one, valueAt(one))));
  const values = new Map(at("path").map((parameter) => [parameter.name, writePath(parameter, valueAt(parameter))]));
  const query = [
    ...[...pairs.values()].flatMap(writePairs),
    ...auth.query.map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`),
  ].join("&");
  const address = `${operation.baseUrl}${expandPath(operation.path, values)}`;
  const url = checkBelow(new URL(query === "" ? address : `${address}?${query}`), operation.baseUrl);

  const cookies = [
    ...given("cookie").map(([parameter, value]) => `${encodeText(parameter.name)}=${writeCookie(parameter, value)}`),
    ...auth.cookies.map(([name, value]) => `${name}=${encodeText(value)}`),
  ];
  const body = bodyOf(operation, means, parameters);
  const { idempotencyHeader } = operation;
  const headers = new Map<string, string>();
  const set = (name: string, value: string): void => void headers.set(name.toLowerCase(), value);
  set("accept", operation.accept);
  for (const [parameter, value] of given("header")) set(parameter.name, writeHeader(parameter, value));
  if (idempotencyHeader !== undefined) set(idempotencyHeader, means.idempotencyKey);
  if (cookies.length > 0) set("cookie", cookies.join("; "));
  if (body !== undefined) set("content-type", body.contentType);
  for (const [name, value] of Object.entries(operation.headers)) set(name, value);
  for (const [name, value] of Object.entries(auth.headers)) set(name, value);
  return {
    url: url.href,
    method: operation.method,
    headers: Object.fromEntries(headers),
    body: body?.body,
    leftOut: parameters.filter(isLeftOut).map(({ argument }) => argument),
    ...(dropped.length > 0 && { dropped: dropped.map(({ argument }) => argument) }),
  };
};
