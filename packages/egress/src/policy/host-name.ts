// Names of hosts, in one spelling, and the patterns of an allow-list: a name, or `*.` before one for every name below it.

import { ToolplaneError } from "@toolplane/protocol";

const MAX_NAME = 253;
const WILDCARD = "*.";

/** The host of an address without brackets and without the dot that a full name may end with. */
export const hostOf = ({ hostname }: URL): string => {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return bare.endsWith(".") ? bare.slice(0, -1) : bare;
};

/** As the URL standard spells it: lower case, punycode, an IPv4 address in four decimal parts. */
const tryParseHost = (text: string): string | undefined => {
  const isV6 = text.includes(":") && !text.startsWith("[");
  const url = text.length > MAX_NAME ? null : URL.parse(`https://${isV6 ? `[${text}]` : text}/`);
  if (url === null || url.port !== "" || url.username !== "" || url.password !== "" || url.pathname !== "/")
    return undefined;
  if (url.search !== "" || url.hash !== "" || text.includes("*") || /[\s/@]/u.test(text)) return undefined;
  const host = hostOf(url);
  return host === "" || host.endsWith(".") ? undefined : host;
};

/** A pattern in the one spelling that `matchesHost` compares. */
export const parseHostPattern = (text: string): string => {
  const below = text.startsWith(WILDCARD);
  const host = tryParseHost(below ? text.slice(WILDCARD.length) : text);
  if (host === undefined || (below && !host.includes(".")))
    throw new ToolplaneError(
      "bad_request",
      `${JSON.stringify(text.slice(0, MAX_NAME))} is not the name of a host, such as api.example.com or *.example.com`,
    );
  return below ? WILDCARD + host : host;
};

/** Both in one spelling: `hostOf` of an address, `parseHostPattern` of the list's entry. */
export const matchesHost = (pattern: string, host: string): boolean =>
  pattern.startsWith(WILDCARD) ? host.endsWith(pattern.slice(1)) : host === pattern;

export const isLocalName = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");
