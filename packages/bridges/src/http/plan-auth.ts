// How a credential is sent: `bearer`, `basic` (the variable holds `user:password`), `header:NAME`, `cookie:NAME`, `query:NAME`.
// A value enters a URL only where the definition says `secrets_in_url`.

import { badRequest } from "@toolplane/protocol";

export type HttpAuth =
  | { readonly kind: "bearer" | "basic"; readonly env: string }
  | { readonly kind: "header" | "query" | "cookie"; readonly name: string; readonly env: string };

const NAMED = ["header", "query", "cookie"] as const;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/u;

/** `bearer` unless a scheme is named; undefined without a variable. */
export const parseAuthScheme = (scheme: string | undefined, env: string | undefined): HttpAuth | undefined => {
  if (env === undefined) return undefined;
  if (scheme === undefined || scheme === "bearer" || scheme === "basic") return { kind: scheme ?? "bearer", env };
  const at = scheme.indexOf(":");
  const kind = NAMED.find((known) => known === scheme.slice(0, Math.max(at, 0)));
  const name = scheme.slice(at + 1).trim();
  if (kind !== undefined && TOKEN.test(name)) return { kind, name, env };
  throw badRequest(
    `auth.scheme is bearer, basic, header:NAME, query:NAME or cookie:NAME, not ${JSON.stringify(scheme.slice(0, 64))}`,
  );
};

export interface SentAuth {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly cookies: readonly (readonly [string, string])[];
}

const NOTHING: SentAuth = { headers: {}, query: [], cookies: [] };

/** A query is part of the address, and proxies and servers log addresses. */
export const checkAuthPlace = (auth: HttpAuth | undefined, secretsInUrl: boolean): void => {
  if (auth?.kind !== "query" || secretsInUrl) return;
  throw badRequest(
    `auth.scheme query:${auth.name} would put the value of ${auth.env} into the address: set options.secrets_in_url to allow it`,
  );
};

/** Of a credential whose place was checked. */
export const planAuth = (auth: HttpAuth | undefined, value: string | undefined): SentAuth => {
  if (auth === undefined || value === undefined) return NOTHING;
  switch (auth.kind) {
    case "bearer":
      return { ...NOTHING, headers: { authorization: `Bearer ${value}` } };
    case "basic":
      return { ...NOTHING, headers: { authorization: `Basic ${Buffer.from(value).toString("base64")}` } };
    case "header":
      return { ...NOTHING, headers: { [auth.name]: value } };
    case "cookie":
      return { ...NOTHING, cookies: [[auth.name, value]] };
    case "query":
      return { ...NOTHING, query: [[auth.name, value]] };
  }
};
