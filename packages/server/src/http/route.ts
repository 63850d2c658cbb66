// A route as data: what it is called with, who may call it, what it does. The table of routes is the API; everything
// that must hold for all of them (auth, limits, error shape, input checks) is done once, by the application.

import type { Engine, Log, Role, Token } from "@toolplane/engine";
import type { Context } from "hono";
import type { z } from "zod";
import type { ToolHosts } from "../hosts/tool-hosts.ts";
import type { PlaneProcesses } from "../up/plane-processes.ts";

export interface Caller {
  readonly token: Token;
  /** `sys.api` for people and programs; `tool.<name>` for a tool service. */
  readonly actorId: string;
}

export interface RouteCall<Body, Query> {
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly query: Query;
  readonly caller: Caller;
  readonly engine: Engine;
  readonly toolHosts: ToolHosts;
  readonly processes: PlaneProcesses;
  readonly log: Log;
  readonly context: Context;
  /** Aborted when the client goes away or the server drains. */
  readonly signal: AbortSignal;
}

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

export interface Route {
  readonly method: Method;
  /** Hono's syntax: `/projects/:project/calls`. A `:project` parameter is checked against the caller's token. */
  readonly path: string;
  readonly roles: readonly Role[];
  readonly body?: z.ZodType;
  readonly query?: z.ZodType;
  /** Bodies larger than this are refused; uploads and results need more than the rest. */
  readonly maxBytes?: number;
  /** The body is read by the route itself (YAML, multipart). */
  readonly rawBody?: boolean;
  handle(call: RouteCall<unknown, unknown>): Promise<Response> | Response;
}

export interface RouteInput<Body extends z.ZodType, Query extends z.ZodType>
  extends Omit<Route, "handle" | "body" | "query"> {
  readonly body?: Body;
  readonly query?: Query;
  handle(call: RouteCall<z.infer<Body>, z.infer<Query>>): Promise<Response> | Response;
}

/** Ties the types of a route's input to its handler. */
export const route = <Body extends z.ZodType, Query extends z.ZodType>(input: RouteInput<Body, Query>): Route =>
  input as unknown as Route;

/** Who may look, who may act, who may rule. A tool service only reaches the routes made for it. */
export const READERS: readonly Role[] = ["admin", "operator", "agent", "viewer"];
export const CALLERS: readonly Role[] = ["admin", "operator", "agent"];
export const OPERATORS: readonly Role[] = ["admin", "operator"];
export const ADMINS: readonly Role[] = ["admin"];
export const SERVICES: readonly Role[] = ["admin", "tool"];
