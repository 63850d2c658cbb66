// The API in one process over a test engine: requests go through the whole application, without a socket.

import { silentLog } from "@toolplane/engine";
import { createApp, routes } from "@toolplane/server";
import { startTestEngine, type TestEngine } from "@toolplane/testkit";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests that expect them
  readonly body: any;
}

export interface HttpStack extends AsyncDisposable {
  readonly t: TestEngine;
  readonly admin: string;
  send(
    method: string,
    path: string,
    body?: unknown,
    options?: { token?: string | null; headers?: Record<string, string> },
  ): Promise<Answer>;
  raw(path: string, init?: RequestInit): Promise<Response>;
  /** A tool service's token for target `test`. */
  toolToken(targets?: readonly string[]): Promise<string>;
}

export const startHttpStack = async (options: Parameters<typeof startTestEngine>[0] = {}): Promise<HttpStack> => {
  const t = await startTestEngine(options);
  const draining = new AbortController();
  const app = createApp({
    engine: () => t.engine,
    routes,
    log: silentLog,
    health: async () => ({ ok: true, body: { status: "ok" } }),
    hosts: [],
    draining: draining.signal,
  });
  const { secret: admin } = await t.engine.tokens.create({ role: "admin" });
  const raw = async (path: string, init: RequestInit = {}): Promise<Response> =>
    app.request(path, {
      ...init,
      headers: { host: "localhost", ...Object.fromEntries(new Headers(init.headers)) },
    });
  return {
    t,
    admin,
    raw,
    async send(method, path, body, { token = admin, headers = {} } = {}) {
      const response = await raw(path, {
        method,
        headers: {
          "content-type": "application/json",
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
    },
    async toolToken(targets = ["test"]) {
      return (await t.engine.tokens.create({ role: "tool", projectId: t.projectId, targets })).secret;
    },
    async [Symbol.asyncDispose]() {
      draining.abort();
      await t[Symbol.asyncDispose]();
    },
  };
};
