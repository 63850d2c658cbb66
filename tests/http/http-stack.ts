// The API in one process over a test engine: requests go through the whole application, without a socket.

import { silentLog } from "@toolplane/engine";
import { type AppOptions, createApp, routes } from "@toolplane/server/internal";
import { type Answer, readAnswer, startTestEngine, type TestEngine } from "@toolplane/testkit";
import { checkAnswers } from "./check-answers.ts";

export interface HttpStack extends AsyncDisposable {
  readonly t: TestEngine;
  readonly admin: string;
  readonly app: ReturnType<typeof createApp>;
  send(
    method: string,
    path: string,
    body?: unknown,
    options?: { token?: string | null; headers?: Record<string, string> },
  ): Promise<Answer>;
  raw(path: string, init?: RequestInit): Promise<Response>;
  /** Throws when this answer, or one before it, is not as described. */
  check(path: string, response: Response): Promise<void>;
  /** A tool service's token for target `test`. */
  toolToken(targets?: readonly string[]): Promise<string>;
}

export const startHttpStack = async (
  options: Parameters<typeof startTestEngine>[0] = {},
  limits: Partial<
    Pick<
      AppOptions,
      "bodies" | "answers" | "readers" | "waits" | "log" | "webhooks" | "metrics" | "metricsToken" | "processes"
    >
  > = {},
  /** False for tests of memory: a check reads a copy of every answer. */
  isChecked = true,
): Promise<HttpStack> => {
  const checks = checkAnswers(routes);
  const t = await startTestEngine(options);
  const draining = new AbortController();
  const app = createApp({
    engine: () => t.engine,
    routes: isChecked ? checks.routes : routes,
    log: silentLog,
    health: async () => ({ ok: true, body: { status: "ok" } }),
    hosts: [],
    draining: draining.signal,
    ...limits,
  });
  const { secret: admin } = await t.engine.tokens.create({ role: "admin" });
  const check: HttpStack["check"] = async (path, response) => {
    if (isChecked) await checks.checkProblem(path, response);
    checks.throwFaults();
  };
  const raw = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await app.request(path, {
      ...init,
      headers: { host: "localhost", ...Object.fromEntries(new Headers(init.headers)) },
    });
    await check(path, response);
    return response;
  };
  return {
    t,
    admin,
    app,
    raw,
    check,
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
      return readAnswer(response);
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
