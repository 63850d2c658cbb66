// The addresses of a NATS server or cluster, and the secrets that may be in them. From here on servers are host and port only;
// errors never show the original text (I8).

import { UsageError } from "@toolplane/protocol";

export interface NatsAddress {
  /** `host:port`, without secrets. */
  readonly servers: readonly string[];
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  /** `tls://`: only an encrypted connection will do. */
  readonly tls: boolean;
}

const DEFAULT_PORT = "4222";
const FORM = "a NATS address is nats://host:port or tls://host:port, several are separated by commas";

const parseOne = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const known = url?.protocol === "nats:" || url?.protocol === "tls:";
  if (url === undefined || !known || url.hostname === "" || url.pathname.length > 1 || url.search + url.hash !== "")
    throw new UsageError(FORM);
  return url;
};

const unescaped = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new UsageError("the user or password in the NATS address has a % that is not an escape");
  }
};

/** A user without a password is a token, as in NATS clients. */
const secretsOf = ({ username, password }: URL): Pick<NatsAddress, "user" | "password" | "token"> => {
  if (username === "") return {};
  if (password === "") return { token: unescaped(username) };
  return { user: unescaped(username), password: unescaped(password) };
};

export const parseNatsAddress = (text: string): NatsAddress => {
  const urls = text.split(",").map((part) => parseOne(part.trim()));
  const tls = urls.filter(({ protocol }) => protocol === "tls:").length;
  if (tls > 0 && tls < urls.length) throw new UsageError("NATS addresses are all nats:// or all tls://");
  const withSecrets = urls.find(({ username }) => username !== "");
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port === "" ? DEFAULT_PORT : port}`),
    ...(withSecrets === undefined ? {} : secretsOf(withSecrets)),
    tls: tls > 0,
  };
};
