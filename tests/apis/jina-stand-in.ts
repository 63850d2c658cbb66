// A stand-in for s.jina.ai and r.jina.ai on loopback: the same addresses, headers, envelopes and errors as the real services, and
// switches for what goes wrong there. Tests reach it by a resolver and a dial of their own; no setting of the product leads here.

import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { connect } from "node:tls";
import type { createApiEgress } from "@toolplane/server/internal";
import { createTestCertificates } from "@toolplane/testkit";

export const GOOD_KEY = "jina_5f1c-canary/9e+2b";
/** A public address, as the real hosts have; the dial leads to the stand-in. */
const PUBLIC_ADDRESS = "93.184.215.14";

export interface JinaAsked {
  readonly host: string;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Fault = (asked: JinaAsked, response: ServerResponse) => unknown;
type Means = NonNullable<Parameters<typeof createApiEgress>[1]>;

export interface JinaStandIn extends AsyncDisposable {
  readonly asked: JinaAsked[];
  /** For the egress guard: both names lead here. */
  readonly means: Means;
  /** The answer to the next requests, or what the services say by themselves. */
  fault: Fault | undefined;
}

interface Problem {
  readonly status: number;
  readonly name: string;
  readonly message: string;
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** JSON only when the client takes no plain text. */
const wantsJson = ({ accept = "*/*" }: IncomingHttpHeaders): boolean =>
  !/\*\/\*|text\/plain|text\/\*/u.test(accept) && /(?:application|text)\/json/u.test(accept);

const say = (asked: JinaAsked, response: ServerResponse, data: unknown, text: string, tokens: number): void => {
  if (!wantsJson(asked.headers)) return void response.writeHead(200, { "content-type": "text/plain" }).end(text);
  const usage = { usage: { tokens } };
  response
    .writeHead(200, { "content-type": "application/json; charset=utf-8", "x-usage-tokens": String(tokens) })
    .end(JSON.stringify({ code: 200, status: 20000, data, meta: usage }));
};

/** The HTTP status is the first three digits of the status. */
export const problem =
  ({ status, name, message, detail = {}, headers = {} }: Problem): Fault =>
  (asked, response) => {
    const code = Math.floor(status / 100);
    const path = typeof detail.path === "string" ? `(${detail.path})` : "";
    const readableMessage = `${name}${path}: ${message}`;
    const isJson = wantsJson(asked.headers);
    response.writeHead(code, { "content-type": isJson ? "application/json" : "text/plain", ...headers });
    const body = { data: null, ...detail, code, name, status, message, readableMessage };
    response.end(isJson ? JSON.stringify(body) : `${readableMessage}\n`);
  };

export const PROBLEMS = {
  badKey: problem({ status: 40102, name: "AuthenticationFailedError", message: "Invalid API key" }),
  noKey: problem({ status: 40103, name: "AuthenticationRequiredError", message: "Authentication is required" }),
  noBalance: problem({ status: 40203, name: "InsufficientBalanceError", message: "Account balance not enough" }),
  noContent: problem({ status: 42206, name: "AssertionFailureError", message: "No search results available" }),
  limited: problem({ status: 42903, name: "RateLimitTriggeredError", message: "Per UID rate limit exceeded" }),
  limitedFor: (seconds: number) =>
    problem({
      status: 42903,
      name: "RateLimitTriggeredError",
      message: "Per UID rate limit exceeded",
      detail: { retryAfter: seconds },
      headers: { "retry-after": String(seconds) },
    }),
  blocked: problem({ status: 45102, name: "SecurityCompromiseError", message: "Domain is not allowed" }),
  crashed: problem({ status: 50302, name: "ServiceCrashedError", message: "Service crashed" }),
} as const;

const isPrivate = (host: string): boolean =>
  host === "localhost" || /^(?:127|10|192\.168|169\.254)\./u.test(host) || !host.includes(".");

const search: Fault = (asked, response) => {
  const url = new URL(asked.url, "https://s.jina.ai");
  const given = asked.method === "GET" ? {} : (JSON.parse(asked.body || "{}") as Record<string, unknown>);
  const q = url.searchParams.get("q") ?? given.q ?? decodeURIComponent(url.pathname.slice(1));
  const { authorization } = asked.headers;
  if (authorization === undefined) return PROBLEMS.noKey(asked, response);
  if (authorization.replace(/^Bearer /u, "") !== GOOD_KEY) return PROBLEMS.badKey(asked, response);
  const num = Number(url.searchParams.get("num") ?? url.searchParams.get("count") ?? given.num ?? 10);
  if (!(num >= 0 && num <= 20))
    return problem({ status: 40001, name: "ParamValidationError", message: "Invalid num", detail: { path: "num" } })(
      asked,
      response,
    );
  const items = Array.from({ length: Math.min(num, 2) }, (_, index) => ({
    title: `${String(q)} ${index + 1}`,
    url: `https://example.com/${index + 1}`,
    description: "A page",
    content: "",
    usage: { tokens: 1000 },
  }));
  const text = items.map(
    (item, index) => `[${index + 1}] Title: ${item.title}\n[${index + 1}] URL Source: ${item.url}`,
  );
  return say(asked, response, items, text.join("\n\n"), 10_000);
};

/** A GET has its options in headers alone: the query string belongs to the address that is read. */
const reader: Fault = (asked, response) => {
  const at = asked.url.indexOf("?");
  const path = at < 0 ? asked.url : asked.url.slice(0, at);
  const named = `${decodeURIComponent(path.slice(1))}${at < 0 ? "" : asked.url.slice(at)}`;
  const target = URL.parse(/^https?:\/\//u.test(named) ? named : `https://${named}`);
  if (target === null)
    return problem({ status: 40001, name: "ParamValidationError", message: "Invalid URL", detail: { path: "url" } })(
      asked,
      response,
    );
  if (isPrivate(target.hostname)) return PROBLEMS.blocked(asked, response);
  const content = `# ${target.href}`;
  const data = { title: "A page", description: "", url: target.href, content, usage: { tokens: 12 } };
  return say(asked, response, data, `Title: A page\n\nURL Source: ${target.href}\n\nMarkdown Content:\n${content}`, 12);
};

export const startJina = async (): Promise<JinaStandIn> => {
  const certificates = createTestCertificates("DNS:s.jina.ai,DNS:r.jina.ai");
  const { files, ca } = certificates;
  const asked: JinaAsked[] = [];
  const server = createServer({ key: readFileSync(files.key), cert: readFileSync(files.cert) }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const { host = "" } = headers;
      const one: JinaAsked = { host, method, url, headers, body: Buffer.concat(chunks).toString("utf8") };
      asked.push(one);
      const answer = standIn.fault ?? (host === "s.jina.ai" ? search : reader);
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const standIn: JinaStandIn = {
    asked,
    fault: undefined,
    means: {
      resolve: async (host) => (host === "s.jina.ai" || host === "r.jina.ai" ? [PUBLIC_ADDRESS] : []),
      dial: ({ host, checked }) =>
        new Promise((dialed, failed) => {
          const socket = connect({ host: "127.0.0.1", port, servername: host, ca }, () =>
            dialed({ socket, reached: checked[0]?.address }),
          );
          socket.once("error", failed);
        }),
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      certificates[Symbol.dispose]();
    },
  };
  return standIn;
};
