// An address that the operator of the plane allows beyond the rule: `http://127.0.0.1:11434`, `https://models.internal:8443`.
// It may be plain http, have any port and be local. It is exactly one scheme, one host and one port.

import { badRequest } from "@toolplane/protocol";
import { tryClassifyAddress } from "../addresses/classify-address.ts";
import { hostOf } from "./host-name.ts";

export interface AllowedOrigin {
  readonly protocol: "http:" | "https:";
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORTS = { "http:": 80, "https:": 443 } as const;

const isProtocol = (protocol: string): protocol is AllowedOrigin["protocol"] => Object.hasOwn(DEFAULT_PORTS, protocol);

/** Scheme, host and port of an address; undefined when it is neither http nor https. */
export const tryReadOrigin = (url: URL): AllowedOrigin | undefined => {
  const { protocol, port } = url;
  if (!isProtocol(protocol)) return undefined;
  return { protocol, host: hostOf(url), port: port === "" ? DEFAULT_PORTS[protocol] : Number(port) };
};

export const isDefaultPort = ({ protocol, port }: AllowedOrigin): boolean => port === DEFAULT_PORTS[protocol];

/** As an operator writes it. */
export const showOrigin = (origin: AllowedOrigin): string => {
  const host = origin.host.includes(":") ? `[${origin.host}]` : origin.host;
  return `${origin.protocol}//${host}${isDefaultPort(origin) ? "" : `:${origin.port}`}`;
};

export const isSameOrigin = (a: AllowedOrigin, b: AllowedOrigin): boolean =>
  a.protocol === b.protocol && a.host === b.host && a.port === b.port;

export const parseAllowedOrigin = (text: string): AllowedOrigin => {
  const url = URL.parse(text);
  const origin = url === null ? undefined : tryReadOrigin(url);
  if (url === null || origin === undefined || origin.host === "" || text.includes("*"))
    throw badRequest("an address to allow looks like http://127.0.0.1:11434 or https://models.internal");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "" || url.pathname !== "/")
    throw badRequest(`an address to allow is a scheme, a host and a port and nothing else: ${showOrigin(origin)}`);
  const literal = tryClassifyAddress(origin.host);
  if (literal?.kind === "never") throw badRequest(`${origin.host} is ${literal.what} and cannot be allowed`);
  return origin;
};
