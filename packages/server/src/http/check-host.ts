// A web page must not be able to talk to a server on somebody's machine: a request names a host we serve, and one that
// comes from a page comes from ours.

import { ToolplaneError } from "@toolplane/protocol";

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]", "::1"]);

/** The name without the port, lower-case; undefined when it is none. */
const hostName = (authority: string): string | undefined => {
  const host = authority.startsWith("[") ? authority.slice(0, authority.indexOf("]") + 1) : authority.split(":")[0];
  return host === undefined || host === "" ? undefined : host.toLowerCase();
};

export const checkHost = (host: string | undefined, origin: string | undefined, served: readonly string[]): void => {
  const name = host === undefined ? undefined : hostName(host);
  if (name === undefined || !(LOOPBACK.has(name) || served.includes(name)))
    throw new ToolplaneError(
      "auth_failed",
      "this server does not answer to that host name; start it with --host to add one",
    );
  if (origin === undefined) return;
  const from = origin.includes("://") ? hostName(origin.slice(origin.indexOf("://") + 3)) : undefined;
  if (from !== name) throw new ToolplaneError("auth_failed", "requests from other origins are refused");
};
