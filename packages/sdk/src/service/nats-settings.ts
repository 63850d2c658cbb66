// Where a service connects when it speaks NATS: the addresses with or without a user, and what of them is secret.
// I8. User and password are in the address alone; people are shown the address without them.

import { isToken, UsageError } from "@toolplane/protocol";

export interface NatsSettings {
  /** One address or several, separated by commas, as the client takes them. */
  readonly url: string;
  /** The path of a credentials file. */
  readonly credentials: string | undefined;
  readonly inboxPrefix: string | undefined;
  /** What no result and no log may show, by the name of where it came from. */
  readonly secrets: ReadonlyMap<string, string>;
}

const EXAMPLE = "nats://127.0.0.1:4222";
const SCHEMES: ReadonlySet<string> = new Set(["nats:", "tls:"]);

const schemeOf = (text: string): string => text.slice(0, text.indexOf(":") + 1).toLowerCase();

/** Whether an address, or the first of several, is one of NATS. */
export const isNatsUrl = (text: string): boolean => SCHEMES.has(schemeOf(text.trim()));

const parseAddress = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !SCHEMES.has(url.protocol) || url.hostname === "") {
    throw new UsageError(
      `TOOLPLANE_URL must be NATS addresses such as ${EXAMPLE}, separated by commas, each with its nats:// or tls://`,
    );
  }
  if (!["", "/"].includes(url.pathname) || url.search !== "" || url.hash !== "") {
    throw new UsageError(`TOOLPLANE_URL must not carry a path, a query or a fragment; write ${EXAMPLE}`);
  }
  return url;
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new UsageError(
      "user and password in TOOLPLANE_URL must be URL-encoded: write %25 for %, %40 for @ and %2F for /",
    );
  }
};

interface Login {
  readonly user: string;
  readonly password: string;
}

const loginOf = (url: URL): Login | undefined =>
  url.username === "" && url.password === ""
    ? undefined
    : { user: decoded(url.username), password: decoded(url.password) };

const oneLogin = (urls: readonly URL[]): Login | undefined => {
  const logins = urls.map(loginOf).filter((login) => login !== undefined);
  const [first] = logins;
  if (logins.some(({ user, password }) => user !== first?.user || password !== first.password)) {
    throw new UsageError("the addresses in TOOLPLANE_URL name different users; give one user, for all of them");
  }
  return first;
};

const parseInbox = (text: string | undefined): string | undefined => {
  if (text !== undefined && !text.split(".").every(isToken)) {
    throw new UsageError(
      "TOOLPLANE_NATS_INBOX must be a subject such as _INBOX_text: A-Z a-z 0-9 _ - and dots, without wildcards",
    );
  }
  return text;
};

export interface NatsInput {
  readonly url: string;
  readonly credentials: string | undefined;
  readonly inbox: string | undefined;
}

export const planNatsSettings = ({ url, credentials, inbox }: NatsInput): { shown: string; nats: NatsSettings } => {
  const urls = url
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map(parseAddress);
  if (new Set(urls.map(({ protocol }) => protocol)).size > 1) {
    throw new UsageError("the addresses in TOOLPLANE_URL must be all nats:// or all tls://");
  }
  const login = oneLogin(urls);
  if (login !== undefined && credentials !== undefined) {
    throw new UsageError("give either a user in TOOLPLANE_URL or TOOLPLANE_NATS_CREDENTIALS, not both");
  }
  // A name alone is a token.
  const secret = login === undefined ? "" : login.password === "" ? login.user : login.password;
  return {
    shown: urls.map(({ protocol, host }) => `${protocol}//${host}`).join(","),
    nats: {
      url: urls.map((address) => address.href).join(","),
      credentials,
      inboxPrefix: parseInbox(inbox),
      secrets: secret === "" ? new Map() : new Map([["TOOLPLANE_URL", secret]]),
    },
  };
};
