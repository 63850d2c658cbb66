// A web page must not be able to use a server on the user's machine. So the Host header must name a host we serve, and a request
// from a page must come from our own scheme, host and port. This server speaks http; a proxy in front that speaks TLS says so with
// X-Forwarded-Proto. A page cannot send that header: a browser asks first, and is refused.

import { isToken, showName, ToolplaneError } from "@toolplane/protocol";

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]", "::1"]);

/** The name without the port, lower-case; undefined when it is none. */
const hostName = (authority: string): string | undefined => {
  const host = authority.startsWith("[") ? authority.slice(0, authority.indexOf("]") + 1) : authority.split(":")[0];
  return host === undefined || host === "" ? undefined : host.toLowerCase();
};

/** A valid name is shown as it is; any other text is quoted. */
const showHost = (name: string): string => (name.split(".").every((part) => isToken(part)) ? name : showName(name));

const notOurName = (name: string | undefined): ToolplaneError =>
  new ToolplaneError(
    "auth_failed",
    name === undefined
      ? "the request names no host; send a Host header"
      : `this server does not answer to the host name ${showHost(name)}; start it with TOOLPLANE_ALLOWED_HOSTS=${showHost(name)} if that is its name`,
  );

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

export const isBehindTls = (forwardedProto: string | undefined): boolean =>
  forwardedProto?.split(",")[0]?.trim().toLowerCase() === "https";

/** `name:port` and `name` in one form, with the default port of the page's scheme, so that they can be compared. */
const placeOf = (authority: string, scheme: string): string => {
  const lower = authority.toLowerCase();
  const port = `:${DEFAULT_PORTS[scheme]}`;
  return lower.endsWith(port) ? lower.slice(0, -port.length) : lower;
};

/**
 * Whether the page was loaded from the address that the request goes to: the same scheme, host and port (the scheme's default when
 * none is written).
 */
const isOwnOrigin = (origin: string, host: string, own: string): boolean => {
  const end = origin.indexOf("://");
  const scheme = origin.slice(0, end + 1).toLowerCase();
  return scheme === own && placeOf(origin.slice(end + 3), scheme) === placeOf(host, scheme);
};

export interface AskedAddress {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly forwardedProto: string | undefined;
}

export const checkHost = ({ host, origin, forwardedProto }: AskedAddress, served: readonly string[]): void => {
  const name = host === undefined ? undefined : hostName(host);
  if (host === undefined || name === undefined || !(LOOPBACK.has(name) || served.includes(name)))
    throw notOurName(name);
  if (origin !== undefined && !isOwnOrigin(origin, host, isBehindTls(forwardedProto) ? "https:" : "http:"))
    throw new ToolplaneError(
      "auth_failed",
      "requests from pages of another scheme, host or port are refused; a proxy in front must pass the Host header on with its port, " +
        "and send X-Forwarded-Proto: https if it speaks TLS",
    );
};
