// Writes one reply to one connection, with the faults it was told to make.

import type { ServerResponse } from "node:http";
import { completionBody, completionChunks } from "./chat-wire.ts";
import { type Completion, isCompletion, type ModelReply, type StreamTrouble } from "./model-reply.ts";

export interface WireRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly withUsage: boolean;
}

const json = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
) => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
};

const event = (data: string): string => `data: ${data}\n\n`;

/** False when the stream is over. */
const makeTrouble = async (response: ServerResponse, { kind, until }: StreamTrouble): Promise<boolean> => {
  await until;
  if (kind === "cut") {
    response.socket?.destroy();
    return false;
  }
  if (kind === "malformed") response.write(event('{"choices": [{"delta": {"content": "half'));
  if (kind === "error")
    response.write(event(JSON.stringify({ error: { message: "words of the endpoint", code: "rate_limit_exceeded" } })));
  return true;
};

const stream = async (response: ServerResponse, completion: Completion, request: WireRequest): Promise<void> => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunks = completionChunks(completion, request.model, request.withUsage);
  for (const [index, chunk] of chunks.entries()) {
    const { trouble } = completion;
    if (trouble?.afterChunks === index && !(await makeTrouble(response, trouble))) return;
    response.write(event(JSON.stringify(chunk)));
  }
  response.end(event("[DONE]"));
};

export const sendReply = async (response: ServerResponse, reply: ModelReply, request: WireRequest): Promise<void> => {
  if (isCompletion(reply)) {
    if (request.stream) return stream(response, reply, request);
    if (reply.trouble?.kind === "cut") {
      const text = JSON.stringify(completionBody(reply, request.model));
      response.writeHead(200, { "content-type": "application/json", "content-length": String(text.length) });
      response.write(text.slice(0, text.length / 2), () => response.socket?.destroy());
      return;
    }
    await reply.trouble?.until;
    return json(response, 200, completionBody(reply, request.model));
  }
  if ("hang" in reply) return;
  if ("drop" in reply) return void response.socket?.destroy();
  if ("raw" in reply) {
    const type = reply.contentType ?? (request.stream ? "text/event-stream" : "application/json");
    response.writeHead(200, { "content-type": type }).end(reply.raw);
    return;
  }
  const { status, headers, body = { error: { message: "words of the endpoint", type: "test_error" } } } = reply;
  json(response, status, body, headers);
};
