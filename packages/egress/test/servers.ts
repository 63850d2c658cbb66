// Real servers on loopback that count who connects, and a network in which names are what a test says.

import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";
import { type AllowedOrigin, parseAllowedOrigin } from "../src/policy/allowed-origin.ts";
import type { ResolveHost } from "../src/request/resolve-host.ts";

export interface CountingServer {
  readonly port: number;
  /** Connections that were ever made to it. */
  connections(): number;
  /** Connections that are open now. */
  open(): number;
}

const running = new Set<Server>();
afterEach(async () => {
  const ended = [...running].map(
    (server) =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  running.clear();
  await Promise.all(ended);
});

const watch = async (server: Server, host: string, at: number): Promise<CountingServer> => {
  let connections = 0;
  let open = 0;
  server.on("connection", (socket) => {
    connections += 1;
    open += 1;
    socket.on("close", () => {
      open -= 1;
    });
  });
  running.add(server);
  await new Promise<void>((resolve) => server.listen(at, host, resolve));
  const { port } = server.address() as AddressInfo;
  return { port, connections: () => connections, open: () => open };
};

export const startServer = (answer: RequestListener, host = "127.0.0.1", port = 0): Promise<CountingServer> =>
  watch(createServer(answer), host, port);

export const startTlsServer = (
  certificate: { readonly key: string; readonly cert: string },
  answer: RequestListener,
): Promise<CountingServer> => watch(createTlsServer(certificate, answer) as unknown as Server, "127.0.0.1", 0);

/** Names and their addresses; every question is kept. */
export const createNames = (
  names: Readonly<Record<string, readonly string[]>>,
): { readonly resolve: ResolveHost; readonly asked: string[] } => {
  const asked: string[] = [];
  return {
    asked,
    resolve: async (host) => {
      asked.push(host);
      return names[host] ?? [];
    },
  };
};

export const allow = (...origins: readonly string[]): readonly AllowedOrigin[] => origins.map(parseAllowedOrigin);

export const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
