// The loopback listener of the scripted plane. It serves one service for a minute and is then closed at once.

import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { ToolplaneError } from "@toolplane/protocol";
import type { Hono } from "hono";

const LOOPBACK = "127.0.0.1";

export interface Listener {
  readonly url: string;
  close(): Promise<void>;
}

export const listenOnLoopback = async (app: Hono, port: number): Promise<Listener> => {
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const todo = "choose another port with --port, or none";
      reject(new ToolplaneError("conflict", `cannot listen on port ${port}`, { detail: { todo }, cause }));
    });
    server.listen(port, LOOPBACK, resolve);
  });
  return {
    url: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
