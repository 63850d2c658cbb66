// An HTTP server on a random loopback port that answers as a test tells it, also badly: slowly, never, with nonsense.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
  /** Which connection it came on; equal numbers mean it was kept alive. */
  readonly connection: number;
}

export interface ScriptedAnswer {
  readonly status?: number;
  readonly body?: unknown;
  /** Sent as it is instead of `body`. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Close the connection instead of answering. */
  readonly hangUp?: boolean;
}

/** Undefined leaves the request open. */
export type Answerer = (request: SeenRequest) => ScriptedAnswer | undefined | Promise<ScriptedAnswer | undefined>;

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: SeenRequest[];
  answer: Answerer;
}

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text === "" ? undefined : (JSON.parse(text) as unknown);
};

const send = (response: ServerResponse, { status = 200, body, text, headers = {}, hangUp }: ScriptedAnswer): void => {
  if (hangUp === true) {
    response.destroy();
    return;
  }
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(text ?? (body === undefined ? "" : JSON.stringify(body)));
};

export const createScriptedServer = async (answer: Answerer): Promise<ScriptedServer> => {
  const requests: SeenRequest[] = [];
  const connections = new Map<unknown, number>();
  const self = { answer };
  const server = createServer((request, response) => {
    const connection = connections.get(request.socket) ?? connections.size + 1;
    connections.set(request.socket, connection);
    void readBody(request).then(async (body) => {
      const seen: SeenRequest = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        body,
        connection,
      };
      requests.push(seen);
      const scripted = await self.answer(seen);
      if (scripted !== undefined) send(response, scripted);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get answer() {
      return self.answer;
    },
    set answer(next: Answerer) {
      self.answer = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
