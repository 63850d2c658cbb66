// The HTTP API as a caller uses it: a token, a time limit, typed errors.
// I8. The token is in a header and nowhere else: not in a URL, a message or a log.

import { type ErrorCode, isErrorCode, isRecord, ToolplaneError } from "@toolplane/protocol";
import { parseRetryAfter } from "../gateway/answer-error.ts";
import { RETRY_AFTER_DETAIL } from "../gateway/patience.ts";
import type { PoolAnswer, PoolRequest, SendRequest } from "../http/pool.ts";
import { isNobodyThere, StrangeAnswer, strangeSpeech } from "./strange-answer.ts";
import type { Body } from "./way.ts";

export interface ApiRequest {
  readonly method?: PoolRequest["method"] | undefined;
  /** Below the address; made by `pathOf`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly upload?: { readonly text: string; readonly type: string } | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long the server may hold the request open (long poll), in addition to the normal time limit of an answer. */
  readonly waitMs?: number | undefined;
  /** The longest silence in the middle of an answer before it counts as broken. */
  readonly silenceMs?: number | undefined;
  /** The content type of the answer, where it is not JSON: an answer of another type is not a Toolplane server's. */
  readonly answerType?: string | undefined;
  /** True: an answer of any status is returned, and the caller reads the status. Otherwise a refusal is thrown. */
  readonly anyStatus?: boolean | undefined;
}

export interface Api {
  readonly url: string;
  /** The answer's JSON. */
  request(request: ApiRequest): Promise<Body>;
  /** The open answer, for streams; the caller reads its body. */
  open(request: ApiRequest): Promise<PoolAnswer>;
  /** The error for a connection that broke in the middle of an answer. */
  lost(cause: unknown): ToolplaneError;
  /** Whether a server was ever there: it answered, or it took a request. */
  isReached(): boolean;
}

/** Advice for the user, in the words of the program that made the request. */
export interface ApiHints {
  readonly noServer: string;
  readonly notOurs: string;
  readonly noToken?: string | undefined;
}

export const HINTS: ApiHints = {
  noServer: "start it with: toolplane up, or name another one in TOOLPLANE_URL",
  notOurs: "check TOOLPLANE_URL",
  noToken: "set TOOLPLANE_TOKEN; the first token is in <data>/token",
};

export interface ApiOptions {
  readonly url: string;
  readonly send: SendRequest;
  readonly readToken: () => Promise<string | undefined> | string | undefined;
  readonly hints?: ApiHints | undefined;
  /** True: an error's message says what to do, and not only its detail. For programs, whose errors are printed as they are. */
  readonly adviseInMessage?: boolean | undefined;
}

/** A healthy server answers in milliseconds; the limit is long because the server may just be starting. */
const ANSWER_MS = 30_000;

/** A path of ids and names, each of them encoded: `pathOf("projects", id, "calls")`. */
export const pathOf = (...segments: readonly string[]): string =>
  segments.map((segment) => `/${encodeURIComponent(segment)}`).join("");

export const givenUp = (cause?: unknown, callId?: string): ToolplaneError =>
  new ToolplaneError("canceled", "the request was given up", { cause, callId });

const parseJson = (text: string): unknown => {
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

interface SaidError {
  readonly error: Body & { readonly message: string };
}

const isSaid = (body: unknown): body is SaidError =>
  isRecord(body) && isRecord(body.error) && typeof body.error.message === "string";

/** A newer server may send a code that this version does not know. */
const errorSaid = ({ code, message, detail }: SaidError["error"], retryAfterSeconds: number | undefined) => {
  const known = isErrorCode(code) ? code : "internal_error";
  const more = {
    ...(isRecord(detail) ? detail : {}),
    ...(known === code ? {} : { code }),
    ...(retryAfterSeconds === undefined ? {} : { [RETRY_AFTER_DETAIL]: retryAfterSeconds }),
  };
  return new ToolplaneError(known, message, { detail: Object.keys(more).length === 0 ? undefined : more });
};

export const createApi = (options: ApiOptions): Api => {
  const { url, send, readToken, hints = HINTS, adviseInMessage = false } = options;
  let isReached = false;
  const say = (what: string, todo: string | undefined): string =>
    adviseInMessage && todo !== undefined ? `${what}; ${todo}` : what;
  const fail = (code: ErrorCode, what: string, todo: string | undefined, cause?: unknown): ToolplaneError =>
    new ToolplaneError(code, say(what, todo), { cause, ...(todo === undefined ? {} : { detail: { todo } }) });
  const noServer = (cause: unknown): ToolplaneError =>
    strangeSpeech(url, cause) ?? fail("upstream_unavailable", `no server answers at ${url}`, hints.noServer, cause);
  const notOurs = (status: number): ToolplaneError => {
    const what = `${url} answered ${status}, and not as a Toolplane server does`;
    if (status === 404) return fail("not_found", what, hints.notOurs);
    // A proxy answers like this while the server behind it starts, so the request may be tried again.
    if (status >= 500) return fail("upstream_unavailable", what, hints.notOurs);
    return new StrangeAnswer(say(what, hints.notOurs), { detail: { todo: hints.notOurs } });
  };

  const brokeOff = (cause: unknown): ToolplaneError =>
    new ToolplaneError("upstream_unavailable", `${url} broke off in the middle of its answer`, { cause });

  /** The error for a request without a whole answer: the caller gave it up, or what `otherwise` says. */
  const lost = (
    cause: unknown,
    { signal }: Pick<ApiRequest, "signal">,
    otherwise: (cause: unknown) => ToolplaneError,
  ): ToolplaneError => {
    if (cause instanceof ToolplaneError) return cause;
    return signal?.aborted === true ? givenUp(cause) : otherwise(cause);
  };

  const readText = (answer: PoolAnswer, request: ApiRequest): Promise<string> =>
    answer.body.text().catch((cause: unknown) => {
      throw lost(cause, request, brokeOff);
    });

  const failed = async (answer: PoolAnswer, request: ApiRequest, token: string | undefined): Promise<never> => {
    const { status } = answer;
    if (status === 401 && token === undefined) {
      await answer.body.dump().catch(() => undefined);
      throw fail("unauthorized", `${url} wants a token and none was found`, hints.noToken);
    }
    const body = parseJson(await readText(answer, request));
    if (!isSaid(body)) throw notOurs(status);
    throw errorSaid(body.error, parseRetryAfter(answer.header("retry-after") ?? null, Date.now()));
  };

  const open = async (request: ApiRequest): Promise<PoolAnswer> => {
    const token = await readToken();
    const content = contentOf(request);
    let answer: PoolAnswer;
    try {
      answer = await send({
        method: request.method ?? "GET",
        path: withQuery(request.path, request.query),
        headers: {
          accept: "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(content === undefined ? {} : { "content-type": content.type }),
          ...request.headers,
        },
        body: content?.text,
        signal: request.signal,
        answerMs: ANSWER_MS + (request.waitMs ?? 0),
        silenceMs: request.silenceMs,
      });
      isReached = true;
    } catch (cause) {
      if (!isNobodyThere(cause)) isReached = true;
      throw lost(cause, request, noServer);
    }
    const { answerType } = request;
    const isTaken = request.anyStatus === true || (answer.status >= 200 && answer.status < 300);
    if (!isTaken) return failed(answer, request, token);
    if (answerType === undefined || answer.header("content-type")?.startsWith(answerType) === true) return answer;
    void answer.body.dump().catch(() => undefined);
    throw notOurs(answer.status);
  };

  return {
    url,
    open,
    lost: (cause) => lost(cause, {}, brokeOff),
    isReached: () => isReached,
    async request(request) {
      const answer = await open(request);
      const body = parseJson(await readText(answer, request));
      if (!isRecord(body)) throw notOurs(answer.status);
      return body;
    },
  };
};
