// Results that come back over LISTEN/NOTIFY, for queues that leave it to their users how a producer learns of a result:
// the statement that stores a result also notifies, so the caller hears of it when it is durable, without polling.

import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { LISTEN } from "./results.sql.ts";
import { type Caller, checkEcho } from "./shapes.ts";

interface Results {
  /** Resolves when the result of that id is stored. Ask before the job is sent. */
  of(id: string): Promise<unknown>;
  close(): Promise<void>;
}

const listenForResults = async (databaseUrl: string): Promise<Results> => {
  const client = new Client({ connectionString: databaseUrl });
  const waiting = new Map<string, (result: unknown) => void>();
  client.on("notification", ({ payload = "{}" }) => {
    const { id, output } = JSON.parse(payload) as { readonly id: string; readonly output: unknown };
    waiting.get(id)?.(output);
    waiting.delete(id);
  });
  await client.connect();
  await client.query(LISTEN);
  return {
    of: (id) => new Promise((resolve) => waiting.set(id, resolve)),
    close: () => client.end(),
  };
};

/** A caller that sends its jobs by `send` and hears of their results here. */
export const openListeningCaller = async (
  databaseUrl: string,
  send: (id: string) => Promise<void>,
  close: () => Promise<unknown>,
): Promise<Caller> => {
  const results = await listenForResults(databaseUrl);
  return {
    async call() {
      const id = randomUUID();
      const result = results.of(id);
      await send(id);
      checkEcho(await result);
    },
    async close() {
      await results.close();
      await close();
    },
  };
};
