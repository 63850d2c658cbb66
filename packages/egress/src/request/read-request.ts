// A request as the guard sends it: checked before anything is sent, and kept so that it can be sent again after a redirect. No
// error text here shows a header's value: it may be a key.

import { badRequest, UsageError } from "@toolplane/protocol";

export interface Hop {
  readonly url: string | URL;
  readonly method: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string | Uint8Array | undefined;
}

/** One whose address was checked. */
export interface AskedHop extends Hop {
  readonly url: URL;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u;
/** Printable ASCII and tabs. A line break would let the writer start a header, or a request, of their own. */
const VALUE = /^[\t\x20-\x7e]*$/u;

/** Headers about how a message travels belong to the HTTP client; a foreign one could split the message or name another site. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const OWN_PREFIX = "proxy-";
export const REFUSED_METHODS: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"]);
const MAX_SHOWN = 64;

/** Throws `bad_request` for a header that cannot be sent. */
export const readHeaders = (given: RequestInit["headers"]): ReadonlyMap<string, string> => {
  const entries: Iterable<readonly (string | undefined)[]> =
    given === undefined ? [] : Symbol.iterator in given ? (given as Iterable<string[]>) : Object.entries(given);
  const headers = new Map<string, string>();
  for (const [name = "", value] of entries) {
    if (value === undefined) continue;
    if (!TOKEN.test(name)) throw badRequest("the name of a request header has a character that headers cannot have");
    const key = name.toLowerCase();
    if (OWN_HEADERS.has(key) || key.startsWith(OWN_PREFIX))
      throw badRequest(`the request header ${key.slice(0, MAX_SHOWN)} cannot be set: it belongs to the connection`);
    if (!VALUE.test(value))
      throw badRequest(
        `the request header ${key.slice(0, MAX_SHOWN)} has a line end or another character headers cannot have`,
      );
    const before = headers.get(key);
    headers.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
};

const readBody = (body: RequestInit["body"]): Hop["body"] => {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  throw new UsageError("the egress guard takes a request's body as text or bytes");
};

export const readRequest = (input: Parameters<typeof fetch>[0], init: RequestInit = {}): Hop => {
  if (typeof input !== "string" && !(input instanceof URL))
    throw new UsageError("the egress guard takes an address, not a Request");
  const method = (init.method ?? "GET").toUpperCase();
  if (!TOKEN.test(method) || REFUSED_METHODS.has(method)) throw badRequest("this request method cannot be used");
  return { url: input, method, headers: readHeaders(init.headers), body: readBody(init.body) };
};
