// The connection itself: opened once with a deadline and a clear sentence when that fails, afterwards kept for as long as
// it takes. Secrets go from the address into the client and nowhere else.

import {
  AuthorizationError,
  ConnectionError,
  connect,
  createInbox,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
  PermissionViolationError,
} from "@nats-io/transport-node";
import { ToolplaneError, UsageError } from "@toolplane/protocol";
import type { Log } from "../log.ts";
import { type NatsAddress, parseNatsAddress } from "./address.ts";
import type { NatsOptions } from "./link.ts";
import { createRequests } from "./requests.ts";
import type { Wire } from "./wire.ts";

const DEFAULT_CONNECT_MS = 5_000;

/** A dead peer that sends no reset is noticed after three of these. */
const PING_MS = 10_000;

/** Reconnecting: at once, then slower; a server that comes back is noticed within the longest wait. */
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1_000;

const withoutEnd = (): { next(): number; reset(): void } => {
  let waitMs = FIRST_RETRY_MS;
  return {
    next() {
      const now = waitMs;
      waitMs = Math.min(LONGEST_RETRY_MS, waitMs * 2);
      return now;
    },
    reset() {
      waitMs = FIRST_RETRY_MS;
    },
  };
};

const tlsOf = (options: NatsOptions, address: NatsAddress): Pick<NodeConnectionOptions, "tls"> => {
  const { ca, cert, key } = options.tls ?? {};
  if (!address.tls && ca === undefined && cert === undefined && key === undefined) return {};
  return {
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    },
  };
};

const CREDENTIALS_PARTS = ["BEGIN NATS USER JWT", "BEGIN USER NKEY SEED"] as const;

const authOf = (options: NatsOptions, address: NatsAddress): Partial<NodeConnectionOptions> => {
  const { credentials } = options;
  if (credentials !== undefined) {
    if (!CREDENTIALS_PARTS.every((part) => credentials.includes(part)))
      throw new UsageError("the NATS credentials are not the text of a credentials file (a user JWT and a seed)");
    return { authenticator: credsAuthenticator(new TextEncoder().encode(credentials)) };
  }
  if (address.token !== undefined) return { token: address.token };
  if (address.user !== undefined) return { user: address.user, pass: address.password ?? "" };
  return {};
};

/** How OpenSSL's and Node's codes speak of certificates. */
const CERTIFICATE_WORDS = ["CERT", "TLS", "SSL", "VERIFY"] as const;

/** Why the first connection failed, in one sentence that says what to do. */
const understandFailure = (error: unknown, { servers }: NatsAddress): ToolplaneError => {
  if (error instanceof ToolplaneError) return error;
  const at = servers.join(", ");
  if (error instanceof AuthorizationError)
    return new ToolplaneError(
      "auth_failed",
      `NATS at ${at} refuses these credentials; give the ones of its configuration`,
    );
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  if (typeof code === "string" && CERTIFICATE_WORDS.some((word) => code.includes(word)))
    return new ToolplaneError(
      "upstream_unavailable",
      `the certificate of NATS at ${at} is not accepted (${code}); give its certificate authority`,
    );
  if (error instanceof ConnectionError || typeof code === "string")
    return new ToolplaneError(
      "upstream_unavailable",
      `nobody answers at ${at}; start NATS there or correct the address`,
    );
  return new ToolplaneError(
    "upstream_unavailable",
    `NATS at ${at} does not talk to us; check its address and its TLS settings`,
    {
      cause: error,
    },
  );
};

const connectInTime = async (options: NodeConnectionOptions, ms: number, at: string): Promise<NatsConnection> => {
  const connecting = connect(options);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new ToolplaneError("upstream_unavailable", `NATS at ${at} did not answer in ${ms} ms; check the address`),
        ),
      ms,
    );
  });
  try {
    return await Promise.race([connecting, late]);
  } catch (error) {
    void connecting.then((nc) => nc.close()).catch(() => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
};

/** Servers that were away at the start were taken off the client's list; those a cluster told it of stay there. */
const keepServers = (nc: NatsConnection, { servers }: NatsAddress): void => {
  const known = nc.getServers().map(({ listen }) => listen);
  const missing = servers.filter((server) => !known.includes(server));
  if (missing.length > 0) nc.setServers([...known, ...missing]);
};

/** Tells listeners one after the other; one that throws hurts nobody else. */
const createListeners = (log: Log): { add(listener: () => void): () => void; tell(): void } => {
  const listeners = new Set<() => void>();
  return {
    add(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell() {
      for (const listener of [...listeners]) {
        try {
          listener();
        } catch {
          log.warn("a listener to the NATS connection failed");
        }
      }
    },
  };
};

export const openWire = async (options: NatsOptions, log: Log): Promise<Wire> => {
  const address = parseNatsAddress(options.url);
  const { connectMs = DEFAULT_CONNECT_MS, inboxPrefix } = options;
  const retry = withoutEnd();
  const settings: NodeConnectionOptions = {
    servers: [...address.servers],
    name: options.name,
    timeout: connectMs,
    pingInterval: PING_MS,
    maxReconnectAttempts: -1,
    reconnectDelayHandler: () => retry.next(),
    // A server that restarts with other users, then with the right ones again, is come back to.
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
    ...(inboxPrefix === undefined ? {} : { inboxPrefix }),
    ...tlsOf(options, address),
    ...authOf(options, address),
  };
  const at = address.servers.join(", ");
  const nc = await connectInTime(settings, connectMs, at).catch((error: unknown) => {
    throw understandFailure(error, address);
  });
  keepServers(nc, address);

  let up = true;
  let refusedInbox = false;
  const lost = createListeners(log);
  const back = createListeners(log);
  const inbox = createInbox(inboxPrefix);
  const connected = (): boolean => up && !nc.isClosed();
  const requests = createRequests({ nc, inbox, connected });

  const goDown = (): void => {
    up = false;
    requests.lose();
    lost.tell();
  };

  const watch = async (): Promise<void> => {
    for await (const status of nc.status()) {
      if (status.type === "disconnect") {
        if (up) log.warn("the connection to NATS is lost");
        goDown();
      } else if (status.type === "reconnect") {
        up = true;
        retry.reset();
        log.info("connected to NATS again", { server: status.server });
        back.tell();
      } else if (status.type === "error" && status.error instanceof PermissionViolationError) {
        const { operation, subject } = status.error;
        log.warn("NATS refuses a subject to this user", { operation, subject });
        if (operation === "publish") requests.refuse(subject);
        else if (subject.startsWith(inbox)) refusedInbox = true;
      }
    }
    goDown();
  };
  void watch();

  await nc.flush().catch(async (error: unknown) => {
    await nc.close();
    throw understandFailure(error, address);
  });
  // A refusal came before the answer to the flush; whoever watches hears of it a turn later.
  await new Promise((resolve) => setImmediate(resolve));
  if (refusedInbox) {
    await nc.close();
    throw new ToolplaneError(
      "auth_failed",
      `NATS at ${at} lets this user receive nothing at ${inbox}; give the inbox prefix of its permissions`,
    );
  }
  return { nc, requests, log, inboxPrefix, connected, onReconnect: back.add, onLost: lost.add };
};
