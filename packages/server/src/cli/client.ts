// The HTTP API as the command line uses it: a token, a time limit, typed errors. Redirects are not followed, because the
// token would go wherever they point.

import { type ErrorCode, isErrorCode, isRecord, ToolplaneError } from "@toolplane/protocol";
import type { CliIo } from "./io.ts";
import type { Settings } from "./settings.ts";

export type Body = Readonly<Record<string, unknown>>;

export interface ApiRequest {
  readonly method?: "GET" | "POST" | "DELETE";
  /** Below the address; made by `pathOf`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly upload?: { readonly text: string; readonly type: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** How long the server may keep the question open, on top of the time an answer takes. */
  readonly waitMs?: number;
}

export interface Client {
  readonly url: string;
  request(request: ApiRequest): Promise<Body>;
  /** The open answer, for streams; the caller reads its body. */
  open(request: ApiRequest): Promise<Response>;
}

/** A healthy server answers in milliseconds; a first request may meet one that is busy starting. */
const ANSWER_MS = 30_000;

/** A path of ids and names, each of them encoded: `pathOf("projects", id, "calls")`. */
export const pathOf = (...segments: readonly string[]): string =>
  segments.map((segment) => `/${encodeURIComponent(segment)}`).join("");

const noServer = (url: string, cause: unknown): ToolplaneError =>
  new ToolplaneError("upstream_unavailable", `no server answers at ${url}`, {
    cause,
    detail: { todo: "start it with: toolplane up (or name another one with --url)" },
  });

const noToken = (url: string): ToolplaneError =>
  new ToolplaneError("unauthorized", `${url} wants a token and none was found`);

const fromStatus = (status: number): ErrorCode =>
  status === 401
    ? "unauthorized"
    : status === 403
      ? "auth_failed"
      : status === 404
        ? "not_found"
        : "upstream_unavailable";

const errorOf = (status: number, body: unknown, url: string): ToolplaneError => {
  const error = isRecord(body) && isRecord(body.error) ? body.error : undefined;
  if (error === undefined || typeof error.message !== "string")
    return new ToolplaneError(fromStatus(status), `${url} answered ${status}, and not as a Toolplane server does`, {
      detail: { todo: "check --url" },
    });
  const code = isErrorCode(error.code) ? error.code : "internal_error";
  return new ToolplaneError(code, error.message, { detail: isRecord(error.detail) ? error.detail : undefined });
};

const readJson = async (response: Response): Promise<unknown> => {
  const text = await response.text();
  if (text === "") return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

const withQuery = (path: string, query: ApiRequest["query"]): string => {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) params.set(name, String(value));
  return params.size === 0 ? path : `${path}?${params.toString()}`;
};

const contentOf = ({ body, upload }: ApiRequest): { readonly text: string; readonly type: string } | undefined =>
  upload ?? (body === undefined ? undefined : { text: JSON.stringify(body), type: "application/json" });

export const createClient = (settings: Settings, io: CliIo): Client => {
  const { url } = settings;

  const send = async (request: ApiRequest, token: string | undefined, signal: AbortSignal): Promise<Response> => {
    const content = contentOf(request);
    try {
      return await io.fetch(url + withQuery(request.path, request.query), {
        method: request.method ?? "GET",
        headers: {
          accept: "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(content === undefined ? {} : { "content-type": content.type }),
          ...request.headers,
        },
        ...(content === undefined ? {} : { body: content.text }),
        redirect: "manual",
        signal,
      });
    } catch (cause) {
      if (request.signal?.aborted === true) throw new ToolplaneError("canceled", "the request was given up", { cause });
      throw noServer(url, cause);
    }
  };

  const open = async (request: ApiRequest, signal: AbortSignal): Promise<Response> => {
    const token = await settings.readToken();
    const response = await send(request, token, signal);
    if (response.ok) return response;
    if (response.status === 401 && token === undefined) throw noToken(url);
    throw errorOf(response.status, await readJson(response), url);
  };

  const signalsOf = ({ signal, waitMs = 0 }: ApiRequest): AbortSignal => {
    const late = AbortSignal.timeout(ANSWER_MS + waitMs);
    return signal === undefined ? late : AbortSignal.any([late, signal]);
  };

  return {
    url,
    open: (request) => open(request, request.signal ?? new AbortController().signal),
    async request(request) {
      const response = await open(request, signalsOf(request));
      let body: unknown;
      try {
        body = await readJson(response);
      } catch (cause) {
        if (request.signal?.aborted === true)
          throw new ToolplaneError("canceled", "the request was given up", { cause });
        throw noServer(url, cause);
      }
      if (!isRecord(body)) throw errorOf(response.status, body, url);
      return body;
    },
  };
};
