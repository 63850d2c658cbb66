// One HTTP operation, as `options.openapi` of a tool definition describes it. The definition is all that the executor knows: an
// import writes it in full, a person may write it by hand. Keys are those of the protocol; unknown keys are refused by name.

import { parseWith, type ToolDefinition, ToolplaneError } from "@toolplane/protocol";
import { z } from "zod";
import { checkHeaders, readMethod } from "./fixed-parts.ts";
import { hasForeignCharacter, leadsUpwards } from "./path-rules.ts";
import { type HttpAuth, parseAuthScheme } from "./plan-auth.ts";

const text = z.string().min(1).max(2_048);
const seconds = z.number();

const STYLES = ["simple", "label", "matrix", "form", "spaceDelimited", "pipeDelimited", "deepObject"] as const;
export type ParameterStyle = (typeof STYLES)[number];

const PARAMETER_PLACES = ["path", "query", "header", "cookie"] as const;
export type ParameterPlace = (typeof PARAMETER_PLACES)[number];

const parameter = z.strictObject({
  name: text,
  in: z.enum(PARAMETER_PLACES),
  /** The argument of the tool that holds its value; its own name unless given. */
  argument: text.optional(),
  style: z.enum(STYLES).optional(),
  explode: z.boolean().optional(),
  allow_reserved: z.boolean().optional(),
  /** The value is written as JSON. */
  json: z.boolean().optional(),
});

const encoding = z.strictObject({
  style: z.enum(STYLES).optional(),
  explode: z.boolean().optional(),
  /** The value is a file: `{ base64, filename?, content_type? }`. */
  file: z.boolean().optional(),
  content_type: text.optional(),
});

const body = z.strictObject({
  argument: text,
  content_type: text,
  /** How each property of a form is written. */
  encoding: z.record(z.string(), encoding).optional(),
});

const openapiOptions = z.strictObject({
  /** For people: the document and the operation in it. */
  source: text.optional(),
  operation_id: text.optional(),
  base_url: text,
  path: text.optional(),
  method: text.optional(),
  /** Patterns of host names; the host of `base_url` unless given. */
  allow_hosts: z.array(text).min(1).max(64).optional(),
  /** Absent: every argument is sent, as the query of a GET and as the JSON body of every other method. */
  parameters: z.array(parameter).max(1_000).optional(),
  body: body.optional(),
  headers: z.record(text, z.union([z.string(), z.number(), z.boolean()])).optional(),
  accept: text.optional(),
  /** A header parameter that gets the call's own idempotency key. */
  idempotency_header: text.optional(),
  auth: z.strictObject({ scheme: text.optional(), env: text }).optional(),
  auth_env: text.optional(),
  timeout_s: seconds.optional(),
  timeout: seconds.optional(),
});

export interface HttpParameter {
  readonly name: string;
  readonly in: ParameterPlace;
  readonly argument: string;
  readonly style: ParameterStyle;
  readonly explode: boolean;
  readonly allowReserved: boolean;
  readonly json: boolean;
}

export interface PropertyEncoding {
  readonly style?: ParameterStyle | undefined;
  readonly explode?: boolean | undefined;
  readonly file?: boolean | undefined;
  readonly content_type?: string | undefined;
}

export interface HttpBody {
  readonly argument: string;
  readonly contentType: string;
  readonly encoding: Readonly<Record<string, PropertyEncoding>>;
}

export interface HttpOperation {
  readonly method: string;
  readonly baseUrl: string;
  /** With `{name}` where a path parameter goes. */
  readonly path: string;
  readonly allowHosts: readonly string[];
  /** Undefined: every argument that the path does not name. */
  readonly parameters: readonly HttpParameter[] | undefined;
  readonly body: HttpBody | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly accept: string;
  readonly idempotencyHeader: string | undefined;
  readonly auth: HttpAuth | undefined;
  /** A limit of its own below the call's deadline. */
  readonly timeoutMs: number | undefined;
}

const DEFAULT_STYLE = { path: "simple", query: "form", header: "simple", cookie: "form" } as const;

const readParameter = (given: z.infer<typeof parameter>): HttpParameter => {
  const style = given.style ?? DEFAULT_STYLE[given.in];
  return {
    name: given.name,
    in: given.in,
    argument: given.argument ?? given.name,
    style,
    explode: given.explode ?? style === "form",
    allowReserved: given.allow_reserved ?? false,
    json: given.json ?? false,
  };
};

/** The first limit that is above zero. */
const firstSeconds = (...given: readonly unknown[]): number | undefined =>
  given.find((value): value is number => typeof value === "number" && value > 0 && Number.isFinite(value));

const refuse = (key: string, why: string): ToolplaneError =>
  new ToolplaneError("bad_request", `options.openapi.${key} ${why}`, { detail: { path: `$.options.openapi.${key}` } });

const baseOf = (address: string): URL => {
  const url = URL.parse(address);
  const isHttp = url?.protocol === "https:" || url?.protocol === "http:";
  if (url === null || !isHttp || url.search !== "" || url.hash !== "")
    throw refuse("base_url", "is not an http address, or has a query or a fragment");
  if (url.username !== "" || url.password !== "")
    throw refuse("base_url", "has a user or a password, which would be stored and logged: use auth");
  return url;
};

const pathOf = (path: string): string => {
  if (hasForeignCharacter(path)) throw refuse("path", "has a character that a path cannot have, such as ? or #");
  if (leadsUpwards(path)) throw refuse("path", 'has a part "." or "..", which leads to another resource');
  return path;
};

export const readOperation = ({ options }: ToolDefinition): HttpOperation => {
  const given = parseWith(openapiOptions, options.openapi, "options.openapi");
  const base = baseOf(given.base_url);
  const limit = firstSeconds(given.timeout_s, given.timeout, options.timeout_s, options.timeout);
  return {
    method: readMethod(given.method ?? "GET", "openapi"),
    baseUrl: base.href.replace(/\/+$/u, ""),
    path: pathOf(given.path ?? ""),
    allowHosts: given.allow_hosts ?? [base.hostname],
    parameters: given.parameters?.map(readParameter),
    body: given.body && {
      argument: given.body.argument,
      contentType: given.body.content_type,
      encoding: given.body.encoding ?? {},
    },
    headers: checkHeaders(
      Object.fromEntries(Object.entries(given.headers ?? {}).map(([name, value]) => [name, String(value)])),
      "openapi",
    ),
    accept: given.accept ?? "application/json",
    idempotencyHeader: given.idempotency_header,
    auth: parseAuthScheme(given.auth?.scheme, given.auth?.env ?? given.auth_env),
    timeoutMs: limit === undefined ? undefined : limit * 1_000,
  };
};
