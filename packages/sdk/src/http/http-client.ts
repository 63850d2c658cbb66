// One HTTP request to the plane: token, time limit, bounded body, typed error. Connections are kept alive by `fetch`.
// I8. The token is in a header and nowhere else: not in a URL, a message or a log.

import { ToolplaneError, tryParseJsonStrict, understandError } from "@toolplane/protocol";
import { errorFromAnswer, parseRetryAfter } from "../gateway/answer-error.ts";
import type { Answer } from "../gateway/wire.ts";
import { type Clock, WAIT_OVER } from "../ports/clock.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST";
  /** Below the base address; ids in it are encoded by the caller. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface HttpAnswer extends Answer {
  readonly status: number;
}

export type HttpClient = (request: HttpRequest) => Promise<HttpAnswer>;

export interface HttpClientOptions {
  readonly url: string;
  readonly token?: string | undefined;
  readonly clock: Clock;
  readonly fetch?: typeof fetch | undefined;
}

/** Nothing but a claim takes long on a healthy server; a hung connection must not cost a lease. */
const REQUEST_TIMEOUT_MS = 10_000;
/** A claim may bring many cards of the largest size the plane stores. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

const tooMuch = (request: string): ToolplaneError =>
  new ToolplaneError("upstream_unavailable", `${request} answered more than ${MAX_ANSWER_BYTES} bytes`);

/** An answer that declares its length ends there, and is read at once; others are counted as they come. */
const isShort = (response: Response): boolean => {
  const declared = response.headers.get("content-length");
  return declared !== null && Number(declared) <= MAX_ANSWER_BYTES && !response.headers.has("content-encoding");
};

const readText = async (response: Response, request: string): Promise<string> => {
  if (response.body === null) return "";
  if (isShort(response)) return response.text();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw tooMuch(request);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
};

const clockAhead = (response: Response, now: number): number => {
  const date = Date.parse(response.headers.get("date") ?? "");
  return Number.isNaN(date) ? 0 : date - now;
};

const readAnswer = async (response: Response, request: string, clock: Clock): Promise<HttpAnswer> => {
  const now = clock.now();
  const text = await readText(response, request);
  const body = text === "" ? undefined : tryParseJsonStrict(text, { maxBytes: MAX_ANSWER_BYTES });
  if (response.ok) {
    if (text !== "" && body === undefined) {
      throw new ToolplaneError("upstream_unavailable", `${request} answered something that is not JSON`);
    }
    return { status: response.status, body, clockAheadMs: clockAhead(response, now) };
  }
  if (response.status >= 300 && response.status < 400) {
    throw new ToolplaneError("bad_request", `${request} was redirected; give the address the server really has`);
  }
  const retryAfterSeconds = parseRetryAfter(response.headers.get("retry-after"), now);
  throw errorFromAnswer({ status: response.status, body, retryAfterSeconds, request });
};

const noAnswer = (thrown: unknown, url: string): ToolplaneError => {
  const error = understandError(thrown);
  return new ToolplaneError("upstream_unavailable", `no Toolplane server answers at ${url}`, {
    detail: { reason: error.detail?.reason ?? error.message },
    cause: thrown,
  });
};

export const createHttpClient = ({ url, token, clock, fetch: send = fetch }: HttpClientOptions): HttpClient => {
  const once = async (request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> => {
    const named = `${request.method} ${request.path}`;
    const response = await send(url + request.path, {
      method: request.method,
      headers: {
        accept: "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(request.body === undefined ? {} : { "content-type": "application/json" }),
        ...request.headers,
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      // Following one would send the token wherever the answer points.
      redirect: "manual",
      signal,
    });
    return readAnswer(response, named, clock);
  };

  return async (request) => {
    const timeoutMs = request.timeoutMs ?? REQUEST_TIMEOUT_MS;
    const ended = new AbortController();
    const late = new AbortController();
    // Only then: an abort makes an error and tells every part of a request, a tenth of what the request costs.
    void clock.sleep(timeoutMs, ended.signal).then(() => {
      if (!ended.signal.aborted) late.abort(WAIT_OVER);
    });
    try {
      const signals = request.signal === undefined ? [late.signal] : [late.signal, request.signal];
      return await once(request, AbortSignal.any(signals));
    } catch (thrown) {
      if (thrown instanceof ToolplaneError) throw thrown;
      if (request.signal?.aborted) throw new ToolplaneError("canceled", "the request was given up", { cause: thrown });
      if (late.signal.aborted) {
        throw new ToolplaneError("upstream_unavailable", `${url} did not answer within ${timeoutMs} ms`);
      }
      throw noAnswer(thrown, url);
    } finally {
      ended.abort(WAIT_OVER);
    }
  };
};
