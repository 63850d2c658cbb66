// Whether an address may be reached, from its text alone. Pure, so that it can be checked at registration and again before every
// request and every redirect. What a name resolves to is checked when the connection is made.

import { ToolplaneError } from "@toolplane/protocol";
import { tryClassifyAddress } from "../addresses/classify-address.ts";
import { type AllowedOrigin, isDefaultPort, isSameOrigin, showOrigin, tryReadOrigin } from "./allowed-origin.ts";
import { isLocalName, matchesHost } from "./host-name.ts";
import type { EgressPolicy } from "./policy.ts";

export interface EgressTarget {
  /** With the host in its one spelling. */
  readonly url: URL;
  readonly origin: AllowedOrigin;
  /** The operator of the plane allows this origin: it may be local. */
  readonly isAllowed: boolean;
}

const MAX_SHOWN = 200;

const malformed = (why: string): ToolplaneError => new ToolplaneError("bad_request", why);

const shown = (origin: AllowedOrigin): string => showOrigin(origin).slice(0, MAX_SHOWN);

/** `auth_failed`: the caller is known and may not do this; trying again changes nothing, a setting does. */
const forbidden = (origin: AllowedOrigin, message: string, todo?: string): ToolplaneError =>
  new ToolplaneError("auth_failed", todo === undefined ? message : `${message}; ${todo}`, {
    detail: { host: origin.host.slice(0, MAX_SHOWN), ...(todo === undefined ? {} : { todo }) },
  });

/** The sentence for what an operator can change. */
export const refuseOrigin = (origin: AllowedOrigin, why: string): ToolplaneError =>
  forbidden(
    origin,
    `${shown(origin)} may not be asked: ${why}`,
    `the operator of the plane allows it with egress.allow: ["${shown(origin)}"] in toolplane.yaml`,
  );

export const refuseForGood = (origin: AllowedOrigin, what: string): ToolplaneError =>
  forbidden(origin, `${shown(origin)} may not be asked: it is ${what}`, "no setting allows that: use another address");

const parseTarget = (address: string | URL): { readonly url: URL; readonly origin: AllowedOrigin } => {
  const url = URL.parse(String(address));
  const origin = url === null ? undefined : tryReadOrigin(url);
  if (url === null || origin === undefined || origin.host === "")
    throw malformed("this is not an http or https address");
  if (url.username !== "" || url.password !== "")
    throw malformed("an address must not hold a user or a password; they would end up in logs");
  // Also catches "name..": after its final dot is removed, no name ends with a dot.
  if (origin.host.endsWith(".")) throw malformed("the host of this address is not a name");
  if (url.hostname.endsWith(".")) url.hostname = origin.host;
  return { url, origin };
};

const checkHost = (origin: AllowedOrigin, { hosts }: EgressPolicy): void => {
  if (hosts === "any" || hosts.some((pattern) => matchesHost(pattern, origin.host))) return;
  const listed = hosts.length === 0 ? "there are none" : hosts.join(", ").slice(0, MAX_SHOWN);
  throw forbidden(
    origin,
    `${shown(origin)} may not be asked: its host is not in the list of allowed hosts (${listed})`,
  );
};

export const planTarget = (address: string | URL, policy: EgressPolicy): EgressTarget => {
  const { url, origin } = parseTarget(address);
  checkHost(origin, policy);
  const literal = tryClassifyAddress(origin.host);
  if (literal?.kind === "never") throw refuseForGood(origin, literal.what);
  const isAllowed = policy.allow.some((allowed) => isSameOrigin(allowed, origin));
  if (isAllowed) return { url, origin, isAllowed };
  if (literal?.kind === "local") throw refuseOrigin(origin, `it is ${literal.what}`);
  if (isLocalName(origin.host)) throw refuseOrigin(origin, "it is a name of this machine");
  if (origin.protocol !== "https:") throw refuseOrigin(origin, "it is plain http");
  if (!isDefaultPort(origin) && !policy.ports.includes(origin.port))
    throw refuseOrigin(origin, `the port ${origin.port} is not allowed`);
  return { url, origin, isAllowed };
};
