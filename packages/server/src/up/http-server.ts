// The listening side: a taken port is explained in one sentence, and closing waits for requests under way.

import { createServer, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, isIPv6, type Socket } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { getRequestListener } from "@hono/node-server";
import { ToolplaneError } from "@toolplane/protocol";
import type { Hono } from "hono";

export interface HttpServer {
  /** `host:port`, with the port the system chose if it was asked to. */
  readonly address: string;
  /** No new connections; resolves when the last request is answered, or was cut off at the end of the grace. */
  close(graceMs: number): Promise<void>;
}

export interface ListenOptions {
  readonly app: Hono;
  readonly host: string;
  readonly port: number;
  readonly maxConnections?: number | undefined;
  /** Of those, so many are kept for /health and /live. */
  readonly reservedConnections?: number | undefined;
  /** How many connections of one address may have no request under way for longer than a moment. */
  readonly idlePerAddress?: number | undefined;
  /** Milliseconds of a clock that is never set. */
  readonly now?: (() => number) | undefined;
  /** A connection whose answer is not read for so long is closed. */
  readonly stuckAnswerMs?: number | undefined;
}

/** Idle ones cost some ten kilobytes each; beyond that new ones are closed at once. */
const MAX_CONNECTIONS = 16_384;
/** When only these are left, other requests are refused and their connections closed: those who watch the server must get in. */
const RESERVED_CONNECTIONS = 512;
const ALWAYS_ANSWERED: ReadonlySet<string> = new Set(["/health", "/live"]);
/** A client writes its headers in one go. */
const HEADERS_TIMEOUT_MS = 15_000;
/** Enough for the largest result over a slow line; a request that trickles in for longer is cut off. */
const REQUEST_TIMEOUT_MS = 120_000;
/**
 * The server closes a kept connection after so long without a request. Proxies and clients close theirs sooner: if the server closed
 * first, a request that is on its way would be lost.
 */
const KEEP_ALIVE_MS = 65_000;
/** How late these limits may be. */
const CHECK_CONNECTIONS_MS = 5_000;
/**
 * A connection with more unanswered requests is closed. Clients send one at a time, few send some at once (pipelining); a few bytes for each
 * request would otherwise start as much work as fits into megabytes.
 */
const REQUESTS_AT_ONCE = 8;
/** Connections of one address on which no request is under way: new ones close the oldest, so that they do not take all of them. */
const IDLE_PER_ADDRESS = 2_048;
/**
 * A connection that was idle for less is kept: its request may be on the way. While thousands connect at once, the first requests of all
 * of them are. A connection that had requests is the kept one of a caller, who may be busy for a while.
 */
const IDLE_MS = { silent: 2_000, kept: 10_000 } as const;
/** Connections that wait to be accepted. Beyond them the system drops the first packet, and a client tries again only seconds later. */
const BACKLOG = 4_096;

/** Later than the limit after which streams end a slow reader with a reason (readers.ts). */
const STUCK_ANSWER_MS = 60_000;

const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);
/** Kept connections become idle one by one while requests end. */
const IDLE_POLL_MS = 50;

const bracketed = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

/** The names in a Host header that mean this server, besides loopback. */
export const servedHosts = (host: string): readonly string[] => {
  if (!WILDCARDS.has(host)) return [bracketed(host).toLowerCase()];
  const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
  return [hostname(), bracketed(host), ...addresses.map(bracketed)].map((name) => name.toLowerCase());
};

const explain = (error: NodeJS.ErrnoException, { host, port }: ListenOptions): ToolplaneError => {
  const options = { cause: error };
  if (error.code === "EADDRINUSE")
    return new ToolplaneError("conflict", `port ${port} of ${host} is taken by another program`, {
      ...options,
      detail: { port, host, todo: "stop it, or choose another port with --port" },
    });
  const todo = { detail: { todo: "choose another with --port or --host" } };
  if (error.code === "EACCES")
    return new ToolplaneError("auth_failed", `this user may not listen on port ${port}`, { ...options, ...todo });
  return new ToolplaneError("bad_request", `cannot listen on ${host}:${port} (${error.code ?? error.message})`, {
    ...options,
    ...todo,
  });
};

type IdleKind = keyof typeof IDLE_MS;

/** The idle connections of one address and since when, the one that is idle the longest first. */
type IdleSockets = Readonly<Record<IdleKind, Map<Socket, number>>>;

/**
 * Closes connections of an address that has too many idle ones: those without any request first. While the server is crowded none of
 * them is spared: a request now and then would keep each of them, and all connections would be those of one address.
 */
const createIdleSockets = (perAddress: number, isCrowded: () => boolean, now: () => number) => {
  const byAddress = new Map<string, IdleSockets>();
  const closeOldest = (idle: IdleSockets, kind: IdleKind, newest: Socket): void => {
    for (const [socket, since] of idle[kind]) {
      if (idle.silent.size + idle.kept.size <= perAddress || socket === newest) return;
      if (now() - since < IDLE_MS[kind] && !isCrowded()) return;
      idle[kind].delete(socket);
      socket.destroy();
    }
  };
  return {
    add(socket: Socket, address: string, kind: IdleKind): void {
      const idle = byAddress.get(address) ?? { silent: new Map<Socket, number>(), kept: new Map<Socket, number>() };
      byAddress.set(address, idle);
      idle[kind].set(socket, now());
      closeOldest(idle, "silent", socket);
      closeOldest(idle, "kept", socket);
    },
    remove(socket: Socket, address: string): void {
      const idle = byAddress.get(address);
      if (idle === undefined) return;
      idle.silent.delete(socket);
      idle.kept.delete(socket);
      if (idle.silent.size + idle.kept.size === 0) byAddress.delete(address);
    },
  };
};

/** The connections on which no request is answered and no answer waits for its reader. Node's own count takes an answer for read when it is written. */
const trackIdle = (
  server: Server,
  idle: ReturnType<typeof createIdleSockets>,
): {
  /** Counts a request until it is answered; how many of its connection are not. */
  readonly begin: (socket: Socket, response: ServerResponse) => number;
  readonly closeIdle: () => void;
  readonly count: () => number;
} => {
  const open = new Map<Socket, { readonly address: string; requests: number }>();
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    open.set(socket, { address, requests: 0 });
    idle.add(socket, address, "silent");
    socket.once("close", () => {
      open.delete(socket);
      idle.remove(socket, address);
    });
  });
  return {
    begin(socket, response) {
      const one = open.get(socket);
      if (one === undefined) return 1;
      if (one.requests === 0) idle.remove(socket, one.address);
      one.requests += 1;
      response.once("close", () => {
        one.requests -= 1;
        if (one.requests === 0 && open.has(socket)) idle.add(socket, one.address, "kept");
      });
      return one.requests;
    },
    closeIdle() {
      for (const [socket, { requests }] of open) if (requests === 0 && socket.writableLength === 0) socket.destroy();
    },
    count: () => open.size,
  };
};

const crowded = (): Response => {
  const error = new ToolplaneError("rate_limited", "this server has too many connections; close some, then try again", {
    detail: { limit: "connections", retry_after_seconds: 1 },
  });
  return Response.json(
    { error: error.toWire() },
    { status: error.http, headers: { "Retry-After": "1", Connection: "close" } },
  );
};

/** A socket on which nothing was written yet is a waiting request, so it stays open. */
const cutStuck = (response: ServerResponse, ms: number): void => {
  response.setTimeout(ms, () => {
    if ((response.socket?.writableLength ?? 0) > 0) response.destroy();
  });
};

export const listen = async (options: ListenOptions): Promise<HttpServer> => {
  const { maxConnections = MAX_CONNECTIONS, reservedConnections = RESERVED_CONNECTIONS } = options;
  const isCrowded = (): boolean => connections.count() > maxConnections - reservedConnections;
  const fetch: typeof options.app.fetch = (request, ...rest) =>
    isCrowded() && !ALWAYS_ANSWERED.has(new URL(request.url).pathname)
      ? crowded()
      : options.app.fetch(request, ...rest);
  const answer = getRequestListener(fetch);
  const stuckAnswerMs = options.stuckAnswerMs ?? STUCK_ANSWER_MS;
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CHECK_CONNECTIONS_MS,
    },
    (request, response) => {
      // Requests that came in the same piece are still told after the connection was closed.
      if (request.socket.destroyed) return;
      if (connections.begin(request.socket, response) > REQUESTS_AT_ONCE) {
        request.socket.destroy();
        return;
      }
      cutStuck(response, stuckAnswerMs);
      void answer(request, response);
    },
  );
  server.maxConnections = maxConnections;
  const now = options.now ?? (() => performance.now());
  const isHalfFull = (): boolean => connections.count() > (maxConnections - reservedConnections) / 2;
  const idle = createIdleSockets(options.idlePerAddress ?? IDLE_PER_ADDRESS, isHalfFull, now);
  const connections = trackIdle(server, idle);
  const { closeIdle } = connections;
  // Node calls it when the server closes.
  server.closeIdleConnections = closeIdle;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(explain(error, options)));
    server.listen({ port: options.port, host: options.host, backlog: BACKLOG }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: `${bracketed(options.host)}:${port}`,
    close: (graceMs) =>
      new Promise((resolve) => {
        const idle = setInterval(closeIdle, IDLE_POLL_MS);
        const enough = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearInterval(idle);
          clearTimeout(enough);
          resolve();
        });
      }),
  };
};
