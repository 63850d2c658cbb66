// The connection itself: opened once with a deadline, and with a clear sentence when that fails; afterwards kept open by
// reconnecting without end. Secrets go from the address into the client and nowhere else.

import { isIP } from "node:net";
import { checkServerIdentity } from "node:tls";
import {
  connect,
  createInbox,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
  PermissionViolationError,
} from "@nats-io/transport-node";
import { type Backoff, backoff, ToolplaneError, UsageError } from "@toolplane/protocol";
import { inTime, LATE, systemClock } from "../clock.ts";
import type { Log } from "../log.ts";
import { type NatsAddress, parseNatsAddress } from "./address.ts";
import { lateFailure, lostFailure, understandFailure } from "./connection-failure.ts";
import type { NatsOptions } from "./link.ts";
import { createRequests } from "./requests.ts";
import type { Wire } from "./wire.ts";

const DEFAULT_CONNECT_MS = 5_000;

/** A dead peer that sends no reset is noticed after three of these. */
const PING_MS = 10_000;

/** Reconnecting: at once, then slower; a server that comes back is noticed within the longest wait. */
const RETRY_MS: Backoff = { first: 50, longest: 1_000 };

/**
 * The library connects to an IP address without telling TLS, which then looks for `localhost` in the certificate. In that case,
 * and only then, the certificate must be for one of the addresses we were given.
 */
const checkIdentity = ({ servers }: NatsAddress): typeof checkServerIdentity => {
  const hosts = servers.map((server) => server.slice(0, server.lastIndexOf(":")).replace(/^\[|\]$/gu, ""));
  const numbers = hosts.filter((host) => isIP(host) !== 0);
  return (name, certificate) => {
    const expected = name === "localhost" && !hosts.includes(name) ? numbers : [name];
    const faults = expected.map((host) => checkServerIdentity(host, certificate));
    return faults.includes(undefined) ? undefined : faults[0];
  };
};

const tlsOf = (options: NatsOptions, address: NatsAddress): Pick<NodeConnectionOptions, "tls"> => {
  const { ca, cert, key } = options.tls ?? {};
  if (!address.tls && ca === undefined && cert === undefined && key === undefined) return {};
  const tls = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    checkServerIdentity: checkIdentity(address),
  };
  return { tls };
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

const answerOf = async <T>(asked: Promise<T>, ms: number, at: string): Promise<T> => {
  const answer = await inTime(systemClock, ms, asked);
  if (answer === LATE) throw lateFailure(at, ms);
  return answer;
};

const connectInTime = async (options: NodeConnectionOptions, ms: number, at: string): Promise<NatsConnection> => {
  const connecting = connect(options);
  try {
    return await answerOf(connecting, ms, at);
  } catch (error) {
    void connecting.then((nc) => nc.close()).catch(() => {});
    throw understandFailure(error, at, ms);
  }
};

/** The client removed servers that were away at the start from its list; those that a cluster announced stay. */
const keepServers = (nc: NatsConnection, { servers }: NatsAddress): void => {
  const known = nc.getServers().map(({ listen }) => listen);
  const missing = servers.filter((server) => !known.includes(server));
  if (missing.length > 0) nc.setServers([...known, ...missing]);
};

/** Calls listeners one after the other; one that throws does not affect the others. */
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
  let retries = 0;
  const settings: NodeConnectionOptions = {
    servers: [...address.servers],
    name: options.name,
    timeout: connectMs,
    pingInterval: PING_MS,
    maxReconnectAttempts: -1,
    reconnectDelayHandler: () => backoff(RETRY_MS, ++retries),
    // Also after a server refused us: it may restart with other users and then with the right ones again.
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
    ...(inboxPrefix === undefined ? {} : { inboxPrefix }),
    ...tlsOf(options, address),
    ...authOf(options, address),
  };
  const at = address.servers.join(", ");
  const nc = await connectInTime(settings, connectMs, at);
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
        if (up) log.warn("the connection to NATS is lost", { connection: options.name });
        goDown();
      } else if (status.type === "reconnect") {
        up = true;
        retries = 0;
        log.info("connected to NATS again", { connection: options.name, server: status.server });
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

  const confirmed = nc.flush().catch(() => {
    throw lostFailure(at);
  });
  await answerOf(confirmed, connectMs, at).catch(async (error: unknown) => {
    await nc.close();
    throw error;
  });
  // The refusal came before the answer to the flush; the watcher hears of it one turn later.
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
