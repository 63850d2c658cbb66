// Restate: a service with one handler in a process of its own, called through the server's ingress over HTTP. The
// idempotency key makes the server keep the result after it was given to the caller, as the others do.

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { createEndpointHandler, service } from "@restatedev/restate-sdk";
import { Pool } from "undici";
import { ARGUMENTS, type Caller, CONCURRENCY, type Config, checkEcho, type Worker } from "./shapes.ts";

/** What the harness gives in place of a database: where the server's two doors are. */
interface RestateConfig extends Config {
  readonly url?: string | undefined;
  readonly adminUrl?: string | undefined;
}

const echo = service({ name: "echo", handlers: { echo: async (_context: unknown, given: object) => given } });

export const openWorker = async ({ adminUrl = "" }: RestateConfig): Promise<Worker> => {
  const server = createServer(createEndpointHandler({ services: [echo], logger: () => undefined }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`${adminUrl}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri: `http://127.0.0.1:${port}` }),
  });
  if (!response.ok) throw new RangeError(`the deployment was refused: ${await response.text()}`);
  return { close: async () => void server.close() };
};

export const openCaller = async ({ url = "" }: RestateConfig): Promise<Caller> => {
  const pool = new Pool(url, { connections: CONCURRENCY });
  const body = JSON.stringify(ARGUMENTS);
  return {
    async call() {
      const headers = { "content-type": "application/json", "idempotency-key": randomUUID() };
      const response = await pool.request({ method: "POST", path: "/echo/echo", headers, body });
      checkEcho(await response.body.json());
    },
    close: () => pool.close(),
  };
};
