// One HTTP request to the plane: token, time limit, bounded body, typed error.
// I8. The token is in a header and nowhere else: not in a URL, a message or a log.
// A plane that was started again may listen elsewhere. After a request that it did not answer, the client asks where it is (`find`): the
// request fails as before, because the plane may have begun it, and the next try goes to the new address.

import { ToolplaneError, tryParseJsonStrict, UsageError, understandError } from "@toolplane/protocol";
import { errorFromAnswer, parseRetryAfter } from "../gateway/answer-error.ts";
import { createPlaneClock, type PlaneClock } from "../gateway/plane-clock.ts";
import type { Answer } from "../gateway/wire.ts";
import { type Clock, WAIT_OVER } from "../ports/clock.ts";
import { createHttpPool, type PoolAnswer } from "./pool.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST";
  /** Below the base address; ids in it are encoded by the caller. */
  readonly path: string;
  readonly body?: unknown;
  /** The body as JSON text, when the caller has written it already; instead of `body`. */
  readonly text?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface HttpAnswer extends Answer {
  readonly status: number;
}

export interface HttpClient {
  (request: HttpRequest): Promise<HttpAnswer>;
  /** Ends the kept connections; requests under way fail. */
  close(): Promise<void>;
}

export interface HttpClientOptions {
  readonly url: string;
  readonly token?: string | undefined;
  readonly clock: Clock;
  /** Where the server is now, if that is known; absent: it is always at `url`. */
  readonly find?: (() => string | undefined) | undefined;
}

/** On a healthy server only a claim takes long; a hung connection must not cost a lease. */
const REQUEST_TIMEOUT_MS = 10_000;
/** A claim may bring many cards of the largest size the plane stores. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

const tooMuch = (request: string): ToolplaneError =>
  new ToolplaneError("upstream_unavailable", `${request} answered more than ${MAX_ANSWER_BYTES} bytes`);

/** An answer that declares its length ends there, and is read at once; others are counted as they come. */
const isShort = (answer: PoolAnswer): boolean => {
  const declared = answer.header("content-length");
  return declared !== undefined && Number(declared) <= MAX_ANSWER_BYTES;
};

const readText = async (answer: PoolAnswer, request: string): Promise<string> => {
  if (isShort(answer)) return answer.body.text();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw tooMuch(request);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
};

const readAnswer = async (
  answer: PoolAnswer,
  request: string,
  now: number,
  planeClock: PlaneClock,
): Promise<HttpAnswer> => {
  const date = Date.parse(answer.header("date") ?? "");
  const clockAheadMs = Number.isNaN(date) ? 0 : planeClock.ahead(date, now);
  const { status } = answer;
  const text = await readText(answer, request);
  const body = text === "" ? undefined : tryParseJsonStrict(text, { maxBytes: MAX_ANSWER_BYTES });
  if (status >= 200 && status < 300) {
    if (text !== "" && body === undefined) {
      throw new ToolplaneError("upstream_unavailable", `${request} answered something that is not JSON`);
    }
    return { status, body, clockAheadMs };
  }
  if (status >= 300 && status < 400) {
    throw new ToolplaneError("bad_request", `${request} was redirected; give the address the server really has`);
  }
  const retryAfterSeconds = parseRetryAfter(answer.header("retry-after") ?? null, now);
  throw errorFromAnswer({ status, body, retryAfterSeconds, request });
};

const noAnswer = (thrown: unknown, url: string): ToolplaneError => {
  const error = understandError(thrown);
  return new ToolplaneError("upstream_unavailable", `no Toolplane server answers at ${url}`, {
    detail: { reason: error.detail?.reason ?? error.message },
    cause: thrown,
  });
};

/** The time limits are ours (REQUEST_TIMEOUT_MS and each request's own): one of the pool would end a claim that waits. */
const NO_LIMIT = 0;

export const createHttpClient = ({ url: first, token, clock, find }: HttpClientOptions): HttpClient => {
  let url = first;
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError(`the address of a server is such as http://127.0.0.1:7420, not ${url}`);
  let pool = createHttpPool({ url });
  const planeClock = createPlaneClock();
  /** Whether it has moved. */
  const follow = (): boolean => {
    const now = find?.();
    if (now === undefined || now === url) return false;
    const left = pool;
    url = now;
    pool = createHttpPool({ url });
    // Requests that are still under way there will not be answered: a data directory has one plane at a time.
    void left.close();
    return true;
  };
  const plain = {
    accept: "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const withBody = { ...plain, "content-type": "application/json" };

  const once = async (request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> => {
    const { method, path, headers, text } = request;
    const body = text ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
    const own = body === undefined ? plain : withBody;
    const answer = await pool.send({
      method,
      path,
      headers: headers === undefined ? own : { ...own, ...headers },
      body,
      signal,
      answerMs: NO_LIMIT,
    });
    return readAnswer(answer, `${method} ${path}`, clock.now(), planeClock);
  };

  const sendOnce = async (request: HttpRequest): Promise<HttpAnswer> => {
    const { signal, timeoutMs = REQUEST_TIMEOUT_MS } = request;
    const asked = url;
    const ended = new AbortController();
    const stop = new AbortController();
    let late = false;
    const giveUp = (): void => stop.abort(WAIT_OVER);
    void clock.sleep(timeoutMs, ended.signal).then(() => {
      if (ended.signal.aborted) return;
      late = true;
      giveUp();
    });
    if (signal?.aborted === true) giveUp();
    else signal?.addEventListener("abort", giveUp, { once: true });
    try {
      return await once(request, stop.signal);
    } catch (thrown) {
      if (thrown instanceof ToolplaneError) throw thrown;
      if (signal?.aborted) throw new ToolplaneError("canceled", "the request was given up", { cause: thrown });
      if (late) throw new ToolplaneError("upstream_unavailable", `${asked} did not answer within ${timeoutMs} ms`);
      throw noAnswer(thrown, asked);
    } finally {
      signal?.removeEventListener("abort", giveUp);
      ended.abort(WAIT_OVER);
    }
  };

  const send = async (request: HttpRequest): Promise<HttpAnswer> => {
    try {
      return await sendOnce(request);
    } catch (error) {
      const code = error instanceof ToolplaneError ? error.code : undefined;
      // Another plane may have taken the address. It does not know the token, and did nothing.
      if (code === "unauthorized" && follow()) return sendOnce(request);
      if (code === "upstream_unavailable") follow();
      throw error;
    }
  };

  return Object.assign(send, { close: () => pool.close() });
};
