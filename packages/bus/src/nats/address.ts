// The addresses of a NATS server or cluster, and the secrets that may be in them. Errors never show these secrets (I8).

import { UsageError } from "@toolplane/protocol";

export interface NatsAddress {
  /** `host:port`, without secrets. */
  readonly servers: readonly string[];
  /** What was parsed, in one form. */
  readonly url: string;
  /** The same without user and password. */
  readonly shown: string;
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  /** `tls://`: a connection that is not encrypted is refused. */
  readonly tls: boolean;
}

const DEFAULT_PORT = "4222";
const SCHEMES: ReadonlySet<string> = new Set(["nats:", "tls:"]);
const FORM = "it looks like nats://user@host:4222, several with commas between them";

/** Whether an address, or the first of several, is one of NATS. */
export const isNatsUrl = (text: string): boolean => /^\s*(?:nats|tls):/iu.test(text);

const parseOne = (text: string, name: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const hasMore = url === undefined || url.pathname.length > 1 || url.search + url.hash !== "";
  if (hasMore || !SCHEMES.has(url.protocol) || url.hostname === "")
    throw new UsageError(`${name} is not a NATS URL: ${FORM}`);
  return url;
};

/** A user without a password is a token, as NATS clients have it. */
const secretsOf = (urls: readonly URL[], name: string): Pick<NatsAddress, "user" | "password" | "token"> => {
  const logins = urls.filter(({ username, password }) => username + password !== "");
  const [first] = logins;
  if (first === undefined) return {};
  if (logins.some(({ username, password }) => username !== first.username || password !== first.password))
    throw new UsageError(`${name} names different users; give one user, for all of them`);
  try {
    const user = decodeURIComponent(first.username);
    return first.password === "" ? { token: user } : { user, password: decodeURIComponent(first.password) };
  } catch {
    throw new UsageError(`user and password in ${name} must be URL-encoded: write %25 for %, %40 for @ and %2F for /`);
  }
};

/** `name` is what an error calls the text: where it was set. */
export const parseNatsAddress = (text: string, name = "the address"): NatsAddress => {
  const urls = text.split(",").map((part) => parseOne(part.trim(), name));
  if (new Set(urls.map(({ protocol }) => protocol)).size > 1)
    throw new UsageError(`${name}: the addresses of NATS are all nats:// or all tls://`);
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port === "" ? DEFAULT_PORT : port}`),
    url: urls.map(({ href }) => href).join(","),
    shown: urls.map(({ protocol, host }) => `${protocol}//${host}`).join(","),
    ...secretsOf(urls, name),
    tls: urls[0]?.protocol === "tls:",
  };
};
