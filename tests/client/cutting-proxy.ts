// A proxy in front of a server that counts requests and cuts connections where a test wants it: at once, or when an answer
// with a certain text is about to pass.

import type { AddressInfo } from "node:net";
import { createServer, connect as dial, type Socket } from "node:net";

export interface CuttingProxy extends AsyncDisposable {
  readonly url: string;
  /** How many requests with this beginning of their first line went through. */
  count(line: string): number;
  /** The next answer that has this text is lost, and its connection with it. Resolves when that happened. */
  loseAnswer(text: string): Promise<void>;
  /** The next request that has this text does not arrive; its connection stays open. Resolves when that happened. */
  loseRequest(text: string): Promise<void>;
  /** Connections that stand. */
  open(): number;
  /** Every connection is cut now. */
  cut(): void;
}

export const startCuttingProxy = async (serverUrl: string): Promise<CuttingProxy> => {
  const { port } = new URL(serverUrl);
  const pairs = new Set<readonly [Socket, Socket]>();
  const sent: string[] = [];
  let losing: { readonly text: string; lost(): void } | undefined;
  let swallowing: { readonly text: string; lost(): void } | undefined;

  const server = createServer((client) => {
    const upstream = dial(Number(port), "127.0.0.1");
    const pair = [client, upstream] as const;
    pairs.add(pair);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
      pairs.delete(pair);
    };
    for (const socket of pair) socket.on("error", end).on("close", end);
    client.on("data", (chunk) => {
      sent.push(chunk.toString("latin1"));
      if (swallowing !== undefined && chunk.toString("utf8").includes(swallowing.text)) {
        swallowing.lost();
        swallowing = undefined;
        return;
      }
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (losing === undefined || !chunk.toString("utf8").includes(losing.text)) {
        client.write(chunk);
        return;
      }
      end();
      losing.lost();
      losing = undefined;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: (line) => sent.join("").split(line).length - 1,
    loseAnswer: (text) =>
      new Promise((lost) => {
        losing = { text, lost };
      }),
    loseRequest: (text) =>
      new Promise((lost) => {
        swallowing = { text, lost };
      }),
    open: () => pairs.size,
    cut: () => {
      for (const [client, upstream] of pairs) {
        client.destroy();
        upstream.destroy();
      }
    },
    async [Symbol.asyncDispose]() {
      for (const [client, upstream] of pairs) {
        client.destroy();
        upstream.destroy();
      }
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
