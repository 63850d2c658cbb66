// The application: every route of the table behind the same checks.
//   APP1. Every route but /health, /live, the login and the console's files needs a bearer token or a browser session
//       (authenticate.ts); a token of one project does not reach another.
//   APP2. A route says what it gives (route.ts); a thing of another owner is refused before the handler runs and the body is
//       read.
//   APP3. The Host header must be one we serve, and a request with an Origin must come from it (DNS rebinding).
//   APP4. Bodies are bounded before they are read, parsed without prototype tricks, and checked before a handler sees them.
//       No handler sees text that the database cannot store, unless its route says that it judges such text itself.
//   APP5. The memory of bodies, long answers, stream readers and waiting requests is counted per token and in total
//       (body-budget.ts, readers.ts).
//   APP6. When a token ends, its waiting requests are answered 401, and what they waited for is not shown.
//   APP7. Every failure has the same shape (problem.ts).
//   APP8. The requests of one project do not keep those of others from the database (request-places.ts).

import { type Engine, type Log, systemClock, type Token, type TokenWatch } from "@toolplane/engine";
import { parseWith, showName, ToolplaneError } from "@toolplane/protocol";
import { type Context, Hono } from "hono";
import type { z } from "zod";
import type { ConsoleFiles } from "../console/console-files.ts";
import { NO_TOOL_HOSTS, type ToolHosts } from "../hosts/tool-hosts.ts";
import { logIn, logOut } from "../login/log-in.ts";
import { createLoginThrottle } from "../login/login-throttle.ts";
import { answerMetrics } from "../metrics/answer-metrics.ts";
import type { PlaneMetrics } from "../metrics/plane-metrics.ts";
import { type PlaneProcesses, UNKNOWN_PROCESSES } from "../up/plane-processes.ts";
import type { WebhookDoor } from "../webhooks/webhook-door.ts";
import { authenticate, endedCaller, watchCaller } from "./authenticate.ts";
import { ANSWER_LIMITS, type BodyLimits, createBodyBudget, isHere, shareBody } from "./body-budget.ts";
import { checkHost } from "./check-host.ts";
import { createFailureLog } from "./failure-log.ts";
import { explainNotFound } from "./known-project.ts";
import { createOwn } from "./own.ts";
import { methodsAt, notOffered, notServed, notThere, problem, shadowedPlaces } from "./problem.ts";
import { PUBLIC_ROUTES } from "./public-routes.ts";
import { parseBody, readBody } from "./read-body.ts";
import { readQuery } from "./read-query.ts";
import { createReaders, createWaits, type OpenLimits, type ReaderLimits } from "./readers.ts";
import { createRequestPlaces } from "./request-places.ts";
import { checkRoute, ownedKind, type Route, SMALL_BODY_BYTES } from "./route.ts";
import { createWaitSignals } from "./wait-signals.ts";

export interface AppOptions {
  /** Undefined while the stack is starting. */
  readonly engine: () => Engine | undefined;
  /** The tool hosts of this process; none unless given. */
  readonly toolHosts?: (() => ToolHosts | undefined) | undefined;
  /** The processes this one works with. */
  readonly processes?: (() => PlaneProcesses | undefined) | undefined;
  readonly webhooks?: WebhookDoor | undefined;
  readonly routes: readonly Route[];
  /** The console's pages; none unless given. */
  readonly console?: ConsoleFiles | undefined;
  /** What is measured, for GET /metrics; nothing unless given. */
  readonly metrics?: Pick<PlaneMetrics, "http" | "page"> | undefined;
  /** Opens GET /metrics and nothing else. */
  readonly metricsToken?: string | undefined;
  readonly log: Log;
  readonly health: () => Promise<{ readonly ok: boolean; readonly body: Readonly<Record<string, unknown>> }>;
  /** Names this server answers to, besides loopback. */
  readonly hosts: readonly string[];
  /** Aborted when the server drains. */
  readonly draining: AbortSignal;
  readonly bodies?: BodyLimits | undefined;
  readonly answers?: BodyLimits | undefined;
  readonly readers?: ReaderLimits | undefined;
  readonly waits?: OpenLimits | undefined;
}

const authorize = (token: Token, route: Route, project: string | undefined): void => {
  if (!route.roles.includes(token.role))
    throw new ToolplaneError(
      "auth_failed",
      `a token of role ${token.role} may not do this; it takes ${route.roles.join(" or ")}`,
    );
  if (token.projectId === null) return;
  const own = token.projectId;
  if (route.gives === "self" && project === undefined) return;
  if (project === undefined) throw new ToolplaneError("auth_failed", `this token belongs to project ${own}`);
  if (project === own) return;
  const asked = showName(project);
  throw new ToolplaneError("auth_failed", `this token belongs to project ${own}, and ${asked} was asked for`, {
    detail: { todo: `name project ${own} (on the command line: --project ${own}), or use a token of ${asked}` },
  });
};

/** Whether a request may come without a body. */
const takesNothing = (schema: z.ZodType): boolean => schema.safeParse({}).success;

/** Beside the table, because a browser asks for them before it has a session. */
const LOGIN_PLACES = [
  { method: "POST", path: "/session", answer: logIn },
  { method: "DELETE", path: "/session", answer: logOut },
] as const;

const answerEarly = (context: Context): Response => {
  const early = new ToolplaneError("storage_error", "the server is starting; try again in a moment");
  return problem(context, early);
};

export const createApp = (options: AppOptions): Hono => {
  const { log } = options;
  const failures = createFailureLog(log);
  const bodies = createBodyBudget(options.bodies);
  const answers = createBodyBudget(options.answers ?? ANSWER_LIMITS, "answers");
  const waits = createWaits(options.waits);
  const waitSignal = createWaitSignals(options.draining);
  const requestPlaces = createRequestPlaces();
  const readers = createReaders(options.readers);
  const batchReaders = createReaders(options.readers);
  for (const route of options.routes) checkRoute(route);
  // A trailing slash is ignored.
  const app = new Hono({ strict: false });

  const run = async (route: Route, context: Context): Promise<Response> => {
    const engine = options.engine();
    // Answered, not thrown: a request before the start is complete is not an error of the caller or of the server.
    if (engine === undefined) return answerEarly(context);
    const began = systemClock.now();
    const caller = await authenticate(engine, context);
    const { token } = caller;
    const params = context.req.param() as Record<string, string>;
    authorize(token, route, params.project);
    const query = readQuery(route.query, context.req.url.includes("?") ? context.req.queries() : {});
    const own = createOwn(engine, caller, params.project ?? "");
    const kind = ownedKind(route);
    if (kind !== undefined) await own.check(kind, params[kind] ?? "");
    using share = bodies.open(token.tokenId, () => isHere(context));
    shareBody(context.req.raw, share);
    let body: unknown;
    if (route.body !== undefined) {
      const text = await readBody(context.req.raw, route.maxBytes ?? SMALL_BODY_BYTES);
      const given = text === "" && takesNothing(route.body) ? {} : await parseBody(text, route);
      body = parseWith(route.body, given, "the body");
    }
    const enter = () => requestPlaces.enter(params.project ?? "", context.req.raw.signal);
    // After the body: a body that comes slowly holds no place.
    using admitted = route.isHot === true || route.gives === "served" ? undefined : await enter();
    const toolHosts = options.toolHosts?.() ?? NO_TOOL_HOSTS;
    const processes = options.processes?.() ?? UNKNOWN_PROCESSES;
    let place: Disposable | undefined;
    let watched: { readonly watch: TokenWatch; readonly signal: AbortSignal } | undefined;
    // Made for a handler that hears of the end; most routes answer at once.
    const signalFor = (waitMs: number): AbortSignal => {
      if (waitMs > 0 && place === undefined) {
        admitted?.[Symbol.dispose]();
        place = waits.open(token.tokenId);
      }
      if (watched === undefined) {
        const watch = watchCaller(engine, caller);
        watched = { watch, signal: waitSignal(context, watch.ended) };
      }
      return watched.signal;
    };
    try {
      const response = await route.handle({
        route,
        reply: (status: 200 | 201 | 202, given: unknown) => context.json(given, status),
        ...{ params, body, query, caller, own, engine, toolHosts, processes, readers, batchReaders, log, context },
        webhooks: options.webhooks,
        draining: options.draining,
        holdBody: share.hold,
        openAnswer: () => answers.open(token.tokenId),
        checkUnread: (bytes: number) => answers.checkRoom(token.tokenId, bytes),
        async inLine(work) {
          using _place = await enter();
          return await work();
        },
        signalFor,
      });
      if (watched?.watch.ended.aborted === true) throw endedCaller(caller);
      failures.answered(began);
      return response;
    } catch (error) {
      throw await explainNotFound(error, engine, params.project);
    } finally {
      watched?.watch[Symbol.dispose]();
      place?.[Symbol.dispose]();
    }
  };

  app.use(async (context, next) => {
    const forwardedProto = context.req.header("x-forwarded-proto");
    checkHost(
      { host: context.req.header("host"), origin: context.req.header("origin"), forwardedProto },
      options.hosts,
    );
    context.header("X-Content-Type-Options", "nosniff");
    context.header("Cache-Control", "no-store");
    await next();
  });
  app.get("/live", (context) => context.json({ status: "ok" }));
  app.get("/health", async (context) => {
    const { ok, body } = await options.health();
    return context.json(body, ok ? 200 : 503);
  });
  const fail = (error: unknown, context: Context): Response => problem(context, error, { tell: failures.failed });
  const { metrics } = options;
  metrics?.http.watch(() => ({ readers: readers.count() + batchReaders.count(), waiting: waits.count() }));
  const runMeasured = async (route: Route, context: Context): Promise<Response> => {
    if (metrics === undefined) return run(route, context);
    const began = metrics.http.now();
    const response = await run(route, context).catch((error: unknown) => fail(error, context));
    metrics.http.answered(`${route.method} ${route.path}`, response.status, began);
    return response;
  };
  const measured = metrics === undefined ? [] : [{ method: "GET", path: "/metrics" }];
  if (metrics !== undefined)
    app.get("/metrics", (context) =>
      answerMetrics({ engine: options.engine(), page: metrics.page, token: options.metricsToken }, context),
    );
  const throttle = createLoginThrottle();
  // A process without routes serves no people either.
  const logins = options.routes.length === 0 ? [] : LOGIN_PLACES;
  const places = [...PUBLIC_ROUTES, ...measured, ...logins, ...options.routes];
  const answerMissing = (context: Context): Response => {
    const methods = methodsAt(places, context.req.path);
    if (methods.length > 0) context.header("Allow", methods.join(", "));
    const page = methods.length > 0 || options.routes.length === 0 ? undefined : options.console?.answer(context);
    if (page !== undefined) return page;
    const unknown = options.routes.length === 0 ? notServed() : notThere(context.req.path);
    return methods.length > 0
      ? problem(context, notOffered(context.req.method, methods), { status: 405 })
      : problem(context, unknown);
  };
  for (const { method, path, answer } of logins)
    app.on(method, path, async (context) => {
      const engine = options.engine();
      if (engine === undefined) return answerEarly(context);
      // No token is known yet, so all logins together have the share of one token.
      using share = bodies.open(path, () => isHere(context));
      shareBody(context.req.raw, share);
      return await answer({ engine, throttle, log }, context);
    });
  for (const { method, path } of shadowedPlaces(places)) app.on(method, path, answerMissing);
  for (const route of options.routes) app.on(route.method, route.path, (context) => runMeasured(route, context));
  app.notFound(answerMissing);
  app.onError(fail);
  return app;
};
