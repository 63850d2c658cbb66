// `toolplane mcp` in the test's process, with an official client on its stdin and stdout.

import { Client, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { main } from "@toolplane/server/command-line";

export interface StdioClient extends AsyncDisposable {
  readonly client: Client;
  /** Resolves to the exit code. */
  readonly ended: Promise<number>;
}

export const connectStdio = async (
  mode: "auto" | "legacy",
  server: { readonly url: string; readonly token: string },
  more: readonly string[] = [],
): Promise<StdioClient> => {
  const lines: string[] = [];
  let isOver = false;
  let wake = (): void => undefined;
  async function* readLines(): AsyncGenerator<string> {
    while (!isOver || lines.length > 0) {
      const line = lines.shift();
      if (line !== undefined) yield line;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  const transport: Transport = {
    start: async () => undefined,
    async send(message) {
      lines.push(JSON.stringify(message));
      wake();
    },
    async close() {
      isOver = true;
      wake();
      transport.onclose?.();
    },
  };
  const ended = main(["mcp", "--project", "demo", "--url", server.url, "--token", server.token, ...more], {
    stdout: { write: (text) => transport.onmessage?.(JSON.parse(text) as JSONRPCMessage) },
    stderr: { write: () => undefined },
    env: {},
    cwd: "/",
    onStop: () => () => undefined,
    exit: () => undefined,
    readLines,
  });
  const client = new Client({ name: "desktop", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return {
    client,
    ended,
    async [Symbol.asyncDispose]() {
      await client.close();
      await ended;
    },
  };
};
