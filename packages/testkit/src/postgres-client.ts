// One connection or one query on a test database, closed again afterwards.

import { Client } from "pg";

export type TestRow = Record<string, unknown>;

/** Runs `body` with a connection of its own. */
export const withTestClient = async <T>(url: string, body: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client({ connectionString: url });
  // A server that is killed under the connection is part of some tests; the query in flight reports it.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await body(client);
  } finally {
    await client.end();
  }
};

/** The rows of one statement. */
export const queryTestDatabase = (url: string, text: string, values: unknown[] = []): Promise<TestRow[]> =>
  withTestClient(url, async (client) => (await client.query<TestRow>(text, values)).rows);
