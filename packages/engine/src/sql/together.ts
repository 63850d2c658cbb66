// Several prepared statements as one message to the server: they are one transaction, without BEGIN and COMMIT, and are waited for
// once. The server commits at the Sync that ends the message. When one of them fails, the rest is skipped and nothing of it stays.
//   `pg` sends a Sync after every statement, so this query speaks the protocol itself: bind, describe and execute for each.

import pg from "pg";

export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Locks and reads, and writes nothing: as the first of a transaction it is sent together with the BEGIN. */
  readonly holds?: true;
}

/** A statement with its values. */
export interface Part {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** The part of the driver's connection that is used here; its types do not name all of it. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  /** The texts of the statements that this connection has prepared, by name. */
  readonly parsedStatements: Record<string, string | undefined>;
  parse(config: { readonly name: string; readonly text: string }): void;
  bind(config: { readonly portal: string; readonly statement: string; readonly values: readonly unknown[] }): void;
  describe(config: { readonly type: "P"; readonly name: string }): void;
  execute(config: { readonly portal: string; readonly rows: number }): void;
  sync(): void;
  on(event: "parseComplete", heard: () => void): void;
  off(event: "parseComplete", heard: () => void): void;
}

const wireOf = (client: pg.PoolClient): Wire => (client as unknown as { readonly connection: Wire }).connection;

/** Columns of sets are encoded already; what is left are numbers and texts. */
const wireValue = (value: unknown): unknown =>
  value === null || value === undefined ? null : Buffer.isBuffer(value) ? value : String(value);

const ALL_ROWS = 0;
const PORTAL = "";

class Together extends pg.Query {
  constructor(
    parts: readonly Part[],
    fresh: readonly Statement[],
    done: (error: Error | undefined, result: unknown) => void,
  ) {
    super({ text: "" }, done);
    this.submit = (connection): void => {
      const wire = connection as unknown as Wire;
      wire.stream.cork();
      try {
        for (const { name, text } of fresh) wire.parse({ name, text });
        for (const { statement, values } of parts) {
          wire.bind({ portal: PORTAL, statement: statement.name, values: values.map(wireValue) });
          wire.describe({ type: "P", name: PORTAL });
          wire.execute({ portal: PORTAL, rows: ALL_ROWS });
        }
        wire.sync();
      } finally {
        wire.stream.uncork();
      }
    };
  }
}

/** The rows of each statement, in order. Nothing else may be under way on the client: its answers would be taken for ours. */
export const sendTogether = (client: pg.PoolClient, parts: readonly Part[]): Promise<object[][]> => {
  const wire = wireOf(client);
  const statements = new Map(parts.map(({ statement }) => [statement.name, statement]));
  const fresh = [...statements.values()].filter(({ name }) => wire.parsedStatements[name] === undefined);
  // A statement stays prepared although one after it fails.
  let prepared = 0;
  const heard = (): void => {
    const statement = fresh[prepared++];
    if (statement !== undefined) wire.parsedStatements[statement.name] = statement.text;
  };
  if (fresh.length > 0) wire.on("parseComplete", heard);
  return new Promise<object[][]>((resolve, reject) => {
    client.query(
      new Together(parts, fresh, (error, result) => {
        if (error) reject(error);
        else resolve([result].flat().map((one) => (one as pg.QueryResult).rows as object[]));
      }),
    );
  }).finally(() => wire.off("parseComplete", heard));
};
