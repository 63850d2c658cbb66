// A model endpoint for tests: a real HTTP server on loopback that speaks the OpenAI chat-completions format and answers what
// it is told to. Every request is kept, for assertions about what a client sends.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isRecord, type JsonObject, ToolplaneError } from "@toolplane/protocol";
import type { ModelReply } from "./model-reply.ts";
import { sendReply } from "./send-reply.ts";

export interface ModelRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
  readonly model: string;
  readonly messages: readonly JsonObject[];
  readonly stream: boolean;
  /** 1 for the first request of this server. */
  readonly number: number;
  /** Aborts when the client goes away. */
  readonly gone: AbortSignal;
}

export type AnswerModel = (request: ModelRequest) => ModelReply | Promise<ModelReply>;

export interface ModelServer {
  /** The `api_base` for a profile. */
  readonly url: string;
  /** What the operator of a plane has to allow, because it is on this machine: an entry of `egress.allow`. */
  readonly origin: string;
  readonly requests: readonly ModelRequest[];
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const PATH = "/v1/chat/completions";

const readText = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

/** Replies in order; the last one again and again. */
const inOrder =
  (replies: readonly ModelReply[]): AnswerModel =>
  ({ number }) =>
    replies[number - 1] ?? replies.at(-1) ?? { status: 500 };

const failure = (error: unknown): ModelReply =>
  error instanceof ToolplaneError
    ? { status: error.http, body: { error: { message: error.message, code: error.code } } }
    : { status: 500 };

const readRequest = async (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  number: number,
): Promise<ModelRequest | undefined> => {
  const left = new AbortController();
  outgoing.on("close", () => left.abort());
  const body: unknown = JSON.parse(await readText(incoming));
  if (incoming.method !== "POST" || incoming.url !== PATH || !isRecord(body)) return undefined;
  return {
    number,
    headers: incoming.headers,
    body: body as JsonObject,
    model: String(body.model),
    messages: (body.messages ?? []) as readonly JsonObject[],
    stream: body.stream === true,
    gone: left.signal,
  };
};

export const startModelServer = async (answer: AnswerModel | readonly ModelReply[]): Promise<ModelServer> => {
  const requests: ModelRequest[] = [];
  const decide = typeof answer === "function" ? answer : inOrder(answer);
  let count = 0;

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    count += 1;
    const request = await readRequest(incoming, outgoing, count);
    if (request === undefined) {
      outgoing.writeHead(404, { "content-type": "application/json" }).end('{"error":{"message":"no such path"}}');
      return;
    }
    requests.push(request);
    const reply = await Promise.resolve(request).then(decide).catch(failure);
    const options = request.body.stream_options;
    const withUsage = isRecord(options) && options.include_usage === true;
    await sendReply(outgoing, reply, { model: request.model, stream: request.stream, withUsage });
  };

  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const origin = `http://127.0.0.1:${port}`;
  return { url: `${origin}/v1`, origin, requests, close, [Symbol.asyncDispose]: close };
};
