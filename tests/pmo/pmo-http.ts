// Requests to the API of a project with a project manager, without a socket.

import { silentLog } from "@toolplane/engine";
import { createApp, routes } from "@toolplane/server/internal";
import { readAnswer } from "@toolplane/testkit";
import { type PmoWorld, PROJECT } from "./pmo-world.ts";

export const requestOver = async (
  world: PmoWorld,
  token: string,
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
) => {
  const app = createApp({
    engine: () => world.engine,
    routes,
    log: silentLog,
    health: async () => ({ ok: true, body: { status: "ok" } }),
    hosts: [],
    draining: new AbortController().signal,
  });
  const response = await app.request(`/projects/${PROJECT}${path}`, {
    method,
    headers: { host: "localhost", authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return readAnswer(response);
};

/** The token of an agent. */
export const tokenOf = async (world: PmoWorld, agentId: string): Promise<string> =>
  (await world.engine.tokens.create({ role: "agent", projectId: PROJECT, actorId: agentId })).secret;
