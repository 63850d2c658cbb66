// A web page must not be able to talk to a server on somebody's machine: a request names a host we serve, and one that
// comes from a page comes from ours.

import { isToken, showName, ToolplaneError } from "@toolplane/protocol";

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]", "::1"]);

/** The name without the port, lower-case; undefined when it is none. */
const hostName = (authority: string): string | undefined => {
  const host = authority.startsWith("[") ? authority.slice(0, authority.indexOf("]") + 1) : authority.split(":")[0];
  return host === undefined || host === "" ? undefined : host.toLowerCase();
};

/** A name is written as it is; anything else a stranger may send is quoted. */
const showHost = (name: string): string => (name.split(".").every((part) => isToken(part)) ? name : showName(name));

const notOurName = (name: string | undefined): ToolplaneError =>
  new ToolplaneError(
    "auth_failed",
    name === undefined
      ? "the request names no host; send a Host header"
      : `this server does not answer to the host name ${showHost(name)}; start it with TOOLPLANE_ALLOWED_HOSTS=${showHost(name)} if that is its name`,
  );

export const checkHost = (host: string | undefined, origin: string | undefined, served: readonly string[]): void => {
  const name = host === undefined ? undefined : hostName(host);
  if (name === undefined || !(LOOPBACK.has(name) || served.includes(name))) throw notOurName(name);
  if (origin === undefined) return;
  const from = origin.includes("://") ? hostName(origin.slice(origin.indexOf("://") + 3)) : undefined;
  if (from !== name) throw new ToolplaneError("auth_failed", "requests from other origins are refused");
};
