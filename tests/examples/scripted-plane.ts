// A plane that follows a script: it hands out the commands it is told to, answers as the script says, and remembers every
// request. For what a real server cannot be brought to do on purpose.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface SeenRequest {
  readonly method: string;
  /** Below `/projects/demo`. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Hang up instead of answering. */
  readonly hangUp?: boolean;
}

export interface ScriptedPlane extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  requests(start: string): readonly SeenRequest[];
  /** The next claim gets these. */
  offer(...commands: readonly object[]): void;
  /** From the next claim on: keep it open until there is something to hand out. */
  holdClaims(): void;
  /** From now on exchanges are known; before, the plane is one that has no such route. */
  takeExchanges(): void;
  /** A claim is open at this moment. */
  claimIsOpen(): boolean;
  /** Connections that are open at this moment. */
  connections(): Promise<number>;
  /** Answers to requests whose path contains the text, one after the other; then as usual. */
  script(path: string, ...replies: readonly Reply[]): void;
}

export interface CommandInput {
  readonly call: string;
  readonly tool: string;
  readonly args?: object;
  readonly lease?: string;
  readonly runSeconds?: number;
  readonly payload?: object;
}

const LEASE_SECONDS = 3;
const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString();

const cards = new Map<string, object>();

export const commandFor = ({
  call,
  tool,
  args = {},
  lease = `lease-${call}`,
  runSeconds = 60,
  payload,
}: CommandInput): object => {
  const card = {
    card_id: `card-${call}`,
    type: "tool.call",
    tool_call_id: call,
    content: { tool_name: tool, arguments: args },
    metadata: {},
  };
  cards.set(call, card);
  return {
    subject: `cg.v1r4.demo.public.cmd.tool.odd.${tool}`,
    headers: {
      "CG-Project-Id": "demo",
      "CG-Agent-Id": "helper",
      "CG-Turn-Id": "turn-1",
      "CG-Tool-Call-Id": call,
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    },
    payload: { tool_call_card_id: card.card_id, tool_name: tool, after_execution: "suspend", ...payload },
    lease: { id: lease, expires_at: inSeconds(LEASE_SECONDS) },
    run_deadline: inSeconds(runSeconds),
  };
};

const readText = async (request: IncomingMessage): Promise<string> => {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
  return text;
};

export const startScriptedPlane = async (): Promise<ScriptedPlane> => {
  const seen: SeenRequest[] = [];
  const scripts: { readonly path: string; readonly replies: Reply[] }[] = [];
  let offered: readonly object[] = [];
  let claiming: (() => void) | undefined;
  let pollMs = 200;
  let takesExchanges = false;

  const claim = async (): Promise<Reply> => {
    if (offered.length === 0)
      await new Promise<void>((resolve) => {
        // As a long poll: it ends when there is something, or soon.
        const timer = setTimeout(resolve, pollMs);
        claiming = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    claiming = undefined;
    const commands = offered;
    offered = [];
    return { body: { commands } };
  };

  const isExchange = (path: string): boolean => path.endsWith("/exchange");

  /** What an exchange says is answered as usual; only results and heartbeats have something to say. */
  const exchange = (body: string): Reply => {
    const {
      results = [],
      heartbeats = [],
      releases = [],
      parts = [],
    } = JSON.parse(body) as Record<string, readonly { readonly tool_call_id: string }[]>;
    const answered = (items: readonly { readonly tool_call_id: string }[], answer: object) =>
      items.map(({ tool_call_id }) => ({ tool_call_id, ...answer }));
    return {
      body: {
        results: answered(results, { tool_result_card_id: "r", status: "success", idempotent: false }),
        heartbeats: answered(heartbeats, { expires_at: inSeconds(LEASE_SECONDS), cancel: false }),
        releases: answered(releases, { released: true }),
        parts: answered(parts, { accepted: 1 }),
        commands: [],
      },
    };
  };

  const usual = async ({ method, path, body }: SeenRequest): Promise<Reply> => {
    if (isExchange(path) && takesExchanges) return exchange(body);
    if (isExchange(path)) return { status: 404, body: { error: { code: "not_found", message: "no such route" } } };
    if (path.endsWith("/claim")) return claim();
    if (path.endsWith("/card")) return { body: cards.get(path.split("/")[2] ?? "") };
    if (path.endsWith("/heartbeat")) return { body: { expires_at: inSeconds(LEASE_SECONDS), cancel: false } };
    if (path.endsWith("/result")) return { body: { tool_result_card_id: "r", idempotent: false } };
    if (path.startsWith("/tools/") && method === "GET")
      return { status: 404, body: { error: { code: "not_found", message: "no" } } };
    return { status: 201, body: { version: 1, definition_hash: "hash" } };
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? "").slice("/projects/demo".length);
    const heard: SeenRequest = {
      method: request.method ?? "",
      path,
      headers: request.headers,
      body: await readText(request),
    };
    seen.push(heard);
    const reply =
      scripts.find((script) => path.includes(script.path) && script.replies.length > 0)?.replies.shift() ??
      (await usual(heard));
    if (reply.hangUp === true) request.socket.destroy();
    else
      response
        .writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers })
        .end(JSON.stringify(reply.body ?? {}));
  };

  const server: Server = createServer((request, response) => void handle(request, response));
  // Soon, so that clients meet connections that were closed behind their back.
  server.keepAliveTimeout = 20;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    requests: (start) => seen.filter(({ path }) => path.includes(start)),
    offer: (...commands) => {
      offered = [...offered, ...commands];
      claiming?.();
    },
    holdClaims: () => {
      pollMs = 60_000;
    },
    takeExchanges: () => {
      takesExchanges = true;
    },
    claimIsOpen: () => claiming !== undefined,
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
      }),
    script: (path, ...replies) => void scripts.push({ path, replies: [...replies] }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
