// Every error that leaves the API, in one shape: {"error": {code, message, detail?, retryable}} with the code's status.
// An unexpected error is logged with its cause and shown without it (I8).

import { ToolplaneError, understandError } from "@toolplane/protocol";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { RequestFailure } from "./failure-log.ts";

export interface ProblemOptions {
  /** Called for errors that are the server's fault. */
  readonly tell?: ((failure: RequestFailure) => void) | undefined;
  /** Used instead of the status of the error's code. */
  readonly status?: ContentfulStatusCode | undefined;
}

/** Refused for a while, not because of what the request says: the answer names the seconds. */
const COMES_BACK: ReadonlySet<string> = new Set(["rate_limited", "storage_error", "breaker_open"]);

/** Refused by a rule that the operator has set: the server works, and a flood of refusals must not hide what does not. */
const BY_RULE: ReadonlySet<string> = new Set(["breaker_open"]);

const secondsSaid = ({ detail }: ToolplaneError): number | undefined => {
  const seconds = detail?.retry_after_seconds;
  return typeof seconds === "number" ? Math.ceil(seconds) : undefined;
};

export const problem = (context: Context, error: unknown, { tell, status }: ProblemOptions = {}): Response => {
  const known = understandError(error);
  if (known.http >= 500 && !BY_RULE.has(known.code))
    tell?.({
      path: context.req.path,
      method: context.req.method,
      code: known.code,
      cause: String(known.cause ?? error),
    });
  if (known.code === "unauthorized") context.header("WWW-Authenticate", "Bearer");
  if (COMES_BACK.has(known.code)) context.header("Retry-After", String(secondsSaid(known) ?? 1));
  return context.json({ error: known.toWire() }, status ?? (known.http as ContentfulStatusCode));
};

export const notThere = (path: string): ToolplaneError =>
  new ToolplaneError("not_found", `there is nothing at ${path}; the routes are listed in docs/reference/http-api.md`);

/** A process without the role api. */
export const notServed = (): ToolplaneError =>
  new ToolplaneError("not_found", "this process does not have the role api: ask a process that has it");

export const notOffered = (method: string, methods: readonly string[]): ToolplaneError =>
  new ToolplaneError("not_found", `${method.slice(0, 16)} is not offered here; it takes ${methods.join(" or ")}`);

interface Place {
  readonly method: string;
  /** Hono's syntax. */
  readonly path: string;
}

const isParameter = (part: string): boolean => part.startsWith(":");

const fits = (pattern: string, path: string): boolean => {
  const [parts, asked] = [pattern.split("/"), path.split("/")];
  return (
    parts.length === asked.length &&
    parts.every((part, index) => (isParameter(part) ? asked[index] !== "" : part === asked[index]))
  );
};

const wordsIn = (pattern: string): number => pattern.split("/").filter((part) => !isParameter(part)).length;

/** The methods with which a path can be asked for. A word beats a parameter: `calls/batch` is not a call of that id. */
export const methodsAt = (places: readonly Place[], path: string): readonly string[] => {
  const asked = path.endsWith("/") ? path.slice(0, -1) : path;
  const fitting = places.filter((place) => fits(place.path, asked));
  const most = Math.max(...fitting.map((place) => wordsIn(place.path)));
  return [...new Set(fitting.filter((place) => wordsIn(place.path) === most).map(({ method }) => method))];
};

/** Methods that a path does not offer itself and that a path with a parameter in its place would take. */
export const shadowedPlaces = (places: readonly Place[]): readonly Place[] =>
  [...new Set(places.map(({ path }) => path))].flatMap((path) => {
    const own = methodsAt(places, path);
    const others = places.filter((place) => fits(place.path, path)).map(({ method }) => method);
    return [...new Set(others)].filter((method) => !own.includes(method)).map((method) => ({ method, path }));
  });
