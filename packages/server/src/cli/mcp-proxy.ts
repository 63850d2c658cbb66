// Carries MCP messages between the lines of a client on stdio and a server's /mcp/{project}. The server speaks MCP; the proxy knows
// only what the HTTP transport adds: headers, the session, streams.
//   - The body says what a message is; the headers are made from it.
//   - A call that has no idempotency key gets one, and is sent again with it when the connection breaks: the same call is found.
//     Clients from 2026-07-28 on cancel by closing a request, so their calls are sent once, as they are.
//   - A server that is away is waited for: a desktop starts its clients before its servers. It is said at once, where the client
//     keeps what its programs say (stderr).

import { isRecord, ToolplaneError, understandError } from "@toolplane/protocol";
import { type Api, pathOf, readEvents } from "@toolplane/sdk/client";
import { META_KEY } from "../mcp/mcp-meta.ts";

type Message = Readonly<Record<string, unknown>>;

export interface McpProxyOptions {
  readonly client: Pick<Api, "open" | "request">;
  readonly project: string;
  readonly tools?: string | undefined;
  readonly agents?: string | undefined;
  readonly write: (line: string) => void;
  /** One sentence for the person who looks why nothing comes. */
  readonly note: (sentence: string) => void;
  readonly uuid: () => string;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface McpProxy {
  /** Says what is wrong, if the server does not answer or refuses the token; the requests are carried all the same. */
  check(): Promise<void>;
  /** Starts to carry one line; the answers are written as they come. */
  take(line: string): void;
  /** Resolves when every request has its answer. */
  idle(): Promise<void>;
  /** Ends what is open. */
  stop(): void;
}

const PARSE_ERROR = -32_700;
const INTERNAL_ERROR = -32_603;
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
/** A server that is restarted is back within seconds; a machine within minutes. */
const TRIES = 60;
const PAUSE_MS = 2_000;
/** Sent again when no answer came: they change nothing. A call before 2026-07-28 is one more, because it has a key. */
const REPEATABLE: ReadonlySet<unknown> = new Set(["initialize", "server/discover", "tools/list", "ping"]);
/** The server writes a comment every 15 seconds. */
const SILENCE_MS = 60_000;

const paramsOf = ({ params }: Message): Message => (isRecord(params) ? params : {});
const metaOf = (message: Message): Message => {
  const { _meta } = paramsOf(message);
  return isRecord(_meta) ? _meta : {};
};
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Header values are ASCII; the form for other texts is the protocol's own. */
const headerValue = (value: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/u.test(value)
    ? value
    : `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;

/** The headers of a message of 2026-07-28 or later; undefined for an earlier one. */
export const modernHeaders = (message: Message): Readonly<Record<string, string>> | undefined => {
  const version = text(metaOf(message)[VERSION_KEY]);
  if (version === undefined) return undefined;
  const { name, uri, taskId } = paramsOf(message);
  const about = text(name) ?? text(uri) ?? text(taskId);
  return {
    "mcp-protocol-version": version,
    "mcp-method": String(message.method),
    ...(about === undefined ? {} : { "mcp-name": headerValue(about) }),
  };
};

/** The call with a key of its own, if it has none. */
export const withKey = (message: Message, uuid: () => string): Message => {
  if (message.method !== "tools/call" || metaOf(message)[META_KEY] !== undefined) return message;
  return { ...message, params: { ...paramsOf(message), _meta: { ...metaOf(message), [META_KEY]: uuid() } } };
};

const isRequest = ({ method, id }: Message): boolean => typeof method === "string" && id !== undefined;

/** What went wrong, and what to do about it. */
const problemText = (error: unknown, fallback: string): string => {
  const said = isRecord(error) ? error : {};
  const todo = isRecord(said.detail) ? text(said.detail.todo) : undefined;
  const words = text(said.message) ?? fallback;
  return todo === undefined ? words : `${words}; ${todo}`;
};

export const createMcpProxy = (options: McpProxyOptions): McpProxy => {
  const { client, project, tools, agents, write, note: tell, uuid, sleep } = options;
  const stopped = new AbortController();
  const open = new Map<unknown, AbortController>();
  const working = new Set<Promise<void>>();
  let session: string | undefined;
  let version: string | undefined;
  const say = (message: unknown): void => write(JSON.stringify(message));
  const sayError = (id: unknown, code: number, message: string): void =>
    say({ jsonrpc: "2.0", id: id ?? null, error: { code, message } });

  const legacyHeaders = (): Readonly<Record<string, string>> => ({
    ...(session === undefined ? {} : { "mcp-session-id": session }),
    ...(version === undefined ? {} : { "mcp-protocol-version": version }),
  });

  /** What the answer to `initialize` says about all later requests. */
  const note = (message: unknown): void => {
    const result = isRecord(message) && isRecord(message.result) ? message.result : {};
    version ??= text(result.protocolVersion);
  };

  /** Passes messages on as they come; resolves to whether the answer to the request was among them. */
  const pass = async (chunks: AsyncIterable<Uint8Array>, id: unknown): Promise<boolean> => {
    let isAnswered = false;
    for await (const events of readEvents(chunks))
      for (const { data } of events) {
        if (data === "") continue;
        const message = JSON.parse(data) as unknown;
        note(message);
        say(message);
        isAnswered ||= isRecord(message) && message.method === undefined && message.id === id;
      }
    return isAnswered;
  };

  const sayProblem = (id: unknown, body: unknown, status: number): void =>
    sayError(id, INTERNAL_ERROR, problemText(isRecord(body) ? body.error : undefined, `the server answered ${status}`));

  /** Said once each time the server goes, not for every request that waits for it. */
  let isAway = false;
  const wentAway = (error: ToolplaneError): void => {
    if (isAway) return;
    isAway = true;
    const minutes = (TRIES * PAUSE_MS) / 60_000;
    tell(`${problemText(error.toWire(), "the server is away")}; requests are tried again for ${minutes} minutes`);
  };
  const cameBack = (): void => {
    if (isAway) tell("the server answers again");
    isAway = false;
  };

  /** Resolves to whether the message is done with; a connection that broke before the answer rejects. */
  const send = async (message: Message, headers: Readonly<Record<string, string>>, signal: AbortSignal) => {
    const answer = await client.open({
      method: "POST",
      path: pathOf("mcp", project),
      query: { tools, agents },
      body: message,
      headers: { accept: "application/json, text/event-stream", ...headers },
      anyStatus: true,
      signal,
      waitMs: 3_600_000,
      silenceMs: SILENCE_MS,
    });
    cameBack();
    session ??= answer.header("mcp-session-id");
    if (answer.header("content-type")?.startsWith("text/event-stream") === true) {
      if ((await pass(answer.body, message.id)) || !isRequest(message)) return;
      throw new ToolplaneError("upstream_unavailable", "the connection ended before the answer");
    }
    const said = await answer.body.text();
    const body = said === "" ? undefined : (JSON.parse(said) as unknown);
    note(body);
    if (isRecord(body) && body.jsonrpc === "2.0") say(body);
    else if (isRequest(message)) sayProblem(message.id, body, answer.status);
  };

  const carry = async (given: Message): Promise<void> => {
    const modern = modernHeaders(given);
    const message = modern === undefined ? withKey(given, uuid) : given;
    const mayRepeat = REPEATABLE.has(message.method) || (modern === undefined && message.method === "tools/call");
    const mine = new AbortController();
    if (isRequest(message)) open.set(message.id, mine);
    const signal = AbortSignal.any([stopped.signal, mine.signal]);
    for (let tries = 1; ; tries++) {
      try {
        await send(message, modern ?? legacyHeaders(), signal);
        break;
      } catch (error) {
        if (signal.aborted) break;
        const known = understandError(error, { keepMessage: true });
        if (!mayRepeat || tries >= TRIES) {
          if (isRequest(message)) sayProblem(message.id, { error: known.toWire() }, 503);
          break;
        }
        wentAway(known);
        await sleep(PAUSE_MS, signal);
      }
    }
    open.delete(message.id);
  };

  /** Messages of the server that answer no request, such as that its tools have changed. */
  const listen = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      try {
        const answer = await client.open({
          path: pathOf("mcp", project),
          headers: { accept: "text/event-stream", ...legacyHeaders() },
          signal: stopped.signal,
          silenceMs: SILENCE_MS,
        });
        await pass(answer.body, undefined);
      } catch {
        // The server is away, or has forgotten the session: nothing is missed that a client cannot ask for.
      }
      await sleep(PAUSE_MS, stopped.signal);
    }
  };

  /** A canceled request gets no answer, so its connection is closed here; a session's server is told first. */
  const cancel = async (message: Message): Promise<void> => {
    if (session !== undefined) await carry(message);
    open.get(paramsOf(message).requestId)?.abort();
  };

  const start = (work: Promise<void>): void => {
    working.add(work);
    void work.finally(() => working.delete(work));
  };

  return {
    async check() {
      try {
        await client.request({ path: "/whoami", signal: stopped.signal });
      } catch (error) {
        if (stopped.signal.aborted) return;
        const known = understandError(error, { keepMessage: true });
        if (known.code === "upstream_unavailable") wentAway(known);
        else tell(problemText(known.toWire(), "the server refuses this program"));
      }
    },
    take(line) {
      let message: unknown;
      try {
        message = JSON.parse(line);
      } catch {
        message = undefined;
      }
      if (!isRecord(message)) {
        sayError(null, PARSE_ERROR, "each line must be one JSON-RPC message");
        return;
      }
      start(message.method === "notifications/cancelled" ? cancel(message) : carry(message));
      if (message.method === "notifications/initialized" && session !== undefined) void listen();
    },
    async idle() {
      while (working.size > 0) await Promise.all(working);
    },
    stop: () => stopped.abort(),
  };
};
