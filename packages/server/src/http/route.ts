// A route as data: its input, the roles that may call it, what it gives to whom, its handler. The table of routes is the API; the
// application does once what must hold for all routes (auth, ownership, limits, error shape, input checks).

import {
  type BrowserSession,
  type Engine,
  type Log,
  OWNED_KINDS,
  type OwnedKind,
  type Role,
  type Token,
} from "@toolplane/engine";
import { UsageError } from "@toolplane/protocol";
import type { Context } from "hono";
import type { z } from "zod";
import type { ToolHosts } from "../hosts/tool-hosts.ts";
import { pathParams } from "../openapi/path-params.ts";
import type { PlaneProcesses } from "../up/plane-processes.ts";
import type { WebhookDoor } from "../webhooks/webhook-door.ts";
import type { Answers, BodyOf } from "./answers.ts";
import type { BodyShare } from "./body-budget.ts";
import type { BodyParts } from "./body-parts.ts";
import type { Own } from "./own.ts";
import type { Readers } from "./readers.ts";

export interface Caller {
  readonly token: Token;
  /** `sys.api` for people and programs; `tool.<name>` for a tool service. */
  readonly actorId: string;
  /** The browser session that speaks with the rights of the token; undefined for a program. */
  readonly session?: BrowserSession | undefined;
}

export interface RouteCall<Body, Query, Given extends Answers = Answers> {
  readonly route: { readonly answers: Given };
  /** A JSON answer; its body is what the route's schema for the status says. */
  reply<Status extends keyof Given & (200 | 201 | 202)>(status: Status, body: BodyOf<Given[Status]>): Response;
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly query: Query;
  readonly caller: Caller;
  /** Which part of the project's work this caller may see. */
  readonly own: Own;
  readonly engine: Engine;
  readonly toolHosts: ToolHosts;
  readonly processes: PlaneProcesses;
  /** Takes webhooks; undefined when this process sends none. */
  readonly webhooks: WebhookDoor | undefined;
  /** The readers of event streams of this process. */
  readonly readers: Readers;
  /** The readers of batch answers; they take no place from readers of events. */
  readonly batchReaders: Readers;
  readonly log: Log;
  readonly context: Context;
  /**
   * Aborted when the client goes away, its token ends or the server drains. A request that waits is counted among those that do, which may
   * refuse it; a stream waits `FOR_EVER`.
   */
  signalFor(waitMs: number): AbortSignal;
  /** Aborted when the server drains, for work that outlives its request. */
  readonly draining: AbortSignal;
  /** Counts the body's bytes until this is disposed: for an answer that is written after the handler returned. */
  holdBody(): Disposable;
  /** Does work that reads much in the project's line, for a route that is hot. */
  inLine<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Counts a long answer until its reader has taken it. */
  openAnswer(): BodyShare;
  /** Throws `rate_limited` when so many more bytes would be more than the answers of the caller's token may hold unread. */
  checkUnread(bytes: number): void;
}

export const FOR_EVER = Number.POSITIVE_INFINITY;

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/**
 * What a route gives, which decides who may have it beyond the role:
 *   self      what concerns the caller or every caller alike: its own rights, its projects, the description of the API
 *   project   what all of a project share (tools, profiles, roster), or what concerns the plane
 *   work      the work of all agents: never for an agent's or a tool's token
 *   own       a list, a batch, a stream or something made: the handler takes from `own` what the caller may see
 *   served    calls and targets of a tool service: the operation asks whether the caller serves them
 *   turn, call, card, box   the thing the path names: refused to an agent's token unless it is its own
 */
export type Gives = "self" | "project" | "work" | "own" | "served" | OwnedKind;

export interface Route {
  readonly method: Method;
  /** Hono's syntax: `/projects/:project/calls`. A `:project` parameter is checked against the caller's token. */
  readonly path: string;
  readonly roles: readonly Role[];
  readonly gives: Gives;
  /** One line for the reference: what it does or gives. */
  readonly summary: string;
  readonly body?: z.ZodType;
  readonly query?: z.ZodType;
  readonly answers: Answers;
  /** For the reference, where the handler or the engine checks the body itself: what the body is. */
  readonly shownBody?: z.ZodType;
  /** The body is a document that people write: also as YAML or as a form. */
  readonly isUpload?: boolean;
  /** Headers that mean something here, with what they mean. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Larger bodies are refused: 64 KiB, unless a route asks for more. */
  readonly maxBytes?: number;
  /** Text the database cannot store is let through: the handler turns it into a failed result or an item's own refusal. */
  readonly anyText?: boolean | undefined;
  /** Every key of the body means something: `__proto__` is refused by name, and a number beyond all range by its bound. */
  readonly isExact?: boolean | undefined;
  /** Parts of the body that stand for themselves: one that cannot be kept comes as an `UnreadableJson`. */
  readonly parts?: BodyParts | undefined;
  /** An integer that would be read as another one is refused. */
  readonly keepsIntegers?: boolean | undefined;
  /** What calls are made of, or a route that stands in line by itself (`inLine`): it needs no place to be worked on (request-places.ts). */
  readonly isHot?: boolean | undefined;
  handle(call: RouteCall<unknown, unknown>): Promise<Response> | Response;
}

export interface RouteInput<Body extends z.ZodType, Query extends z.ZodType, Given extends Answers>
  extends Omit<Route, "handle" | "body" | "query" | "answers"> {
  readonly body?: Body;
  readonly query?: Query;
  readonly answers: Given;
  handle(call: RouteCall<z.infer<Body>, z.infer<Query>, Given>): Promise<Response> | Response;
}

/** Ties the types of a route's input and answers to its handler. */
export const route = <Body extends z.ZodType, Query extends z.ZodType, Given extends Answers>(
  input: RouteInput<Body, Query, Given>,
): Route => input as unknown as Route;

/** Roles that may read, act or administer. A tool service only reaches the routes made for it. */
export const READERS: readonly Role[] = ["admin", "operator", "agent", "viewer"];
export const PEOPLE: readonly Role[] = ["admin", "operator", "viewer"];
export const CALLERS: readonly Role[] = ["admin", "operator", "agent"];
export const OPERATORS: readonly Role[] = ["admin", "operator"];
export const ADMINS: readonly Role[] = ["admin"];
export const SERVICES: readonly Role[] = ["admin", "tool"];

/** The size of an ordinary request: ids, reasons, settings. */
export const SMALL_BODY_BYTES = 64 * 1024;
/** Arguments, instructions, lists of ids. */
export const LARGE_BODY_BYTES = 2 * 1024 * 1024;

/** Which thing a path names, if that is what the route gives. */
export const ownedKind = ({ gives }: Pick<Route, "gives">): OwnedKind | undefined =>
  OWNED_KINDS.find((kind) => kind === gives);

/** The roles that each declaration allows; any other combination is refused before the server listens. */
const FOR_AGENTS: ReadonlySet<string> = new Set(["self", "project", "own", ...OWNED_KINDS] satisfies readonly Gives[]);
const FOR_TOOLS: ReadonlySet<string> = new Set(["self", "project", "served"] satisfies readonly Gives[]);
const KNOWN: ReadonlySet<string> = new Set([...FOR_AGENTS, ...FOR_TOOLS, "work"]);

/** All roles, for what concerns the caller itself. */
export const EVERYBODY: readonly Role[] = [...READERS, "tool"];

/** A route that does not say what it gives, or gives it to a role that must not have it, is a programming error. */
export const checkRoute = (one: Route): void => {
  const wrong = (what: string): UsageError => new UsageError(`${one.method} ${one.path} ${what}`);
  if (!KNOWN.has(one.gives)) throw wrong("does not say what it gives: set gives");
  if (one.roles.includes("agent") && !FOR_AGENTS.has(one.gives)) throw wrong(`gives ${one.gives} to agents`);
  if (one.roles.includes("tool") && !FOR_TOOLS.has(one.gives)) throw wrong(`gives ${one.gives} to tool services`);
  pathParams(one.path);
  const kind = ownedKind(one);
  if (kind !== undefined && !one.path.split("/").includes(`:${kind}`)) throw wrong(`names no ${kind} in its path`);
};
