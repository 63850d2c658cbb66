// The protocol's headers over HTTP, where case does not count.
// Only protocol headers are taken: a context is stored, and `Authorization` or `Cookie` must not be (I8).

import { violation } from "../errors/toolplane-error.ts";
import { type HeaderMap, normalizeHeaders, type RawHeaders } from "./header-map.ts";
import { canonicalHeaderName } from "./header-names.ts";

/** What `fetch` and Node give: an iterable of pairs (`Headers`, `Map`) or a plain record. */
export type HttpHeaders = Iterable<readonly [string, unknown]> | RawHeaders;

const isIterable = (headers: object): headers is Iterable<readonly [string, unknown]> =>
  typeof (headers as { readonly [Symbol.iterator]?: unknown })[Symbol.iterator] === "function";

const pairs = (headers: HttpHeaders): Iterable<readonly [string, unknown]> => {
  if (headers === null || headers === undefined) return [];
  if (typeof headers !== "object") throw violation("headers are not a map of names to values");
  return isIterable(headers) ? headers : Object.entries(headers);
};

/** The protocol's headers of an HTTP request, spelled as on the bus. The same header twice must say the same. */
export const headersFromHttp = (headers: HttpHeaders): HeaderMap => {
  const found: Record<string, unknown> = {};
  for (const pair of pairs(headers)) {
    if (!Array.isArray(pair) || typeof pair[0] !== "string") throw violation("headers are not pairs of name and value");
    const [name, value] = pair as readonly [string, unknown];
    const canonical = canonicalHeaderName(name);
    if (canonical === undefined || value === null || value === undefined) continue;
    if (Object.hasOwn(found, canonical) && found[canonical] !== value) {
      throw violation(`header ${canonical} is given twice with different values`);
    }
    found[canonical] = value;
  }
  return normalizeHeaders(found);
};
