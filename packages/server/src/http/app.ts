// The application: every route of the table behind the same gate.
//   A1. Everything but /health and /live needs a bearer token; a token of one project does not reach another.
//   A2. The Host header must be one we serve, and a request with an Origin must come from it (DNS rebinding).
//   A3. Bodies are bounded before they are read, parsed without prototype tricks, and checked before a handler sees them.
//   A4. Every failure has the same shape (problem.ts).

import { type Engine, type Log, systemClock, type Token } from "@toolplane/engine";
import { parseWith, ToolplaneError } from "@toolplane/protocol";
import { type Context, Hono } from "hono";
import type { z } from "zod";
import { NO_TOOL_HOSTS, type ToolHosts } from "../hosts/tool-hosts.ts";
import { type PlaneProcesses, UNKNOWN_PROCESSES } from "../up/plane-processes.ts";
import { checkHost } from "./check-host.ts";
import { createFailureLog } from "./failure-log.ts";
import { explainNotFound } from "./known-project.ts";
import { methodsAt, notOffered, notServed, notThere, problem } from "./problem.ts";
import { parseBody, readBody } from "./read-body.ts";
import type { Caller, Route } from "./route.ts";

export interface AppOptions {
  /** Undefined while the stack is starting. */
  readonly engine: () => Engine | undefined;
  /** The tool hosts of this process; none unless given. */
  readonly toolHosts?: (() => ToolHosts | undefined) | undefined;
  /** The processes this one works with. */
  readonly processes?: (() => PlaneProcesses | undefined) | undefined;
  readonly routes: readonly Route[];
  readonly log: Log;
  readonly health: () => Promise<{ readonly ok: boolean; readonly body: Readonly<Record<string, unknown>> }>;
  /** Names this server answers to, besides loopback. */
  readonly hosts: readonly string[];
  /** Aborted when the server drains. */
  readonly draining: AbortSignal;
}

const DEFAULT_MAX_BYTES = 2 * 1024 * 1024;

const bearerOf = (context: Context): string => {
  const header = context.req.header("authorization") ?? "";
  const [scheme, value, ...rest] = header.split(" ").filter(Boolean);
  if (scheme?.toLowerCase() !== "bearer" || value === undefined || rest.length > 0)
    throw new ToolplaneError(
      "unauthorized",
      "send a token: Authorization: Bearer <token>; the first one is in <data>/token",
    );
  return value;
};

const callerOf = (token: Token): Caller => ({ token, actorId: token.actorId ?? "sys.api" });

const authorize = (token: Token, route: Route, project: string | undefined): void => {
  if (!route.roles.includes(token.role))
    throw new ToolplaneError(
      "auth_failed",
      `a token of role ${token.role} may not do this; it takes ${route.roles.join(" or ")}`,
    );
  if (token.projectId === null) return;
  if (project === undefined || project !== token.projectId)
    throw new ToolplaneError("auth_failed", `this token belongs to project ${token.projectId}`);
};

/** Whether a request may come without a body. */
const takesNothing = (schema: z.ZodType): boolean => schema.safeParse({}).success;

const answerEarly = (context: Context): Response => {
  const early = new ToolplaneError("storage_error", "the server is starting; try again in a moment");
  return problem(context, early);
};

export const createApp = (options: AppOptions): Hono => {
  const { log } = options;
  const failures = createFailureLog(log);
  // A slash too many at the end is no other place.
  const app = new Hono({ strict: false });

  const run = async (route: Route, context: Context): Promise<Response> => {
    const engine = options.engine();
    // Answered, not thrown: whoever comes early has done nothing wrong, and nothing has failed.
    if (engine === undefined) return answerEarly(context);
    const began = systemClock.now();
    const token = await engine.tokens.check(bearerOf(context));
    if (token === undefined)
      throw new ToolplaneError("unauthorized", "the token is unknown, expired or revoked", {
        detail: { todo: "send another; an admin makes one with: toolplane token create" },
      });
    const params = context.req.param() as Record<string, string>;
    authorize(token, route, params.project);
    const query = route.query === undefined ? undefined : parseWith(route.query, context.req.query(), "the query");
    let body: unknown;
    if (route.body !== undefined) {
      const text = await readBody(context.req.raw, route.maxBytes ?? DEFAULT_MAX_BYTES);
      const given = text === "" && takesNothing(route.body) ? {} : await parseBody(text);
      body = parseWith(route.body, given, "the body");
    }
    const toolHosts = options.toolHosts?.() ?? NO_TOOL_HOSTS;
    const processes = options.processes?.() ?? UNKNOWN_PROCESSES;
    const caller = callerOf(token);
    let signal: AbortSignal | undefined;
    try {
      const response = await route.handle({
        ...{ params, body, query, caller, engine, toolHosts, processes, log, context },
        // Made for who waits; most routes answer at once.
        get signal() {
          signal ??= AbortSignal.any([context.req.raw.signal, options.draining]);
          return signal;
        },
      });
      failures.answered(began);
      return response;
    } catch (error) {
      throw await explainNotFound(error, engine, params.project);
    }
  };

  app.use(async (context, next) => {
    checkHost(context.req.header("host"), context.req.header("origin"), options.hosts);
    context.header("X-Content-Type-Options", "nosniff");
    context.header("Cache-Control", "no-store");
    await next();
  });
  app.get("/live", (context) => context.json({ status: "ok" }));
  app.get("/health", async (context) => {
    const { ok, body } = await options.health();
    return context.json(body, ok ? 200 : 503);
  });
  for (const route of options.routes) app.on(route.method, route.path, (context) => run(route, context));
  const places = [{ method: "GET", path: "/live" }, { method: "GET", path: "/health" }, ...options.routes];
  app.notFound((context) => {
    const methods = methodsAt(places, context.req.path);
    if (methods.length > 0) context.header("Allow", methods.join(", "));
    const unknown = options.routes.length === 0 ? notServed() : notThere(context.req.path);
    return methods.length > 0
      ? problem(context, notOffered(context.req.method, methods), { status: 405 })
      : problem(context, unknown);
  });
  app.onError((error, context) => problem(context, error, { tell: failures.failed }));
  return app;
};
