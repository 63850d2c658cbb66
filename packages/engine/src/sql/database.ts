// The database port over `pg`: named statements, one-statement transactions on hot paths, explicit ones elsewhere.
// Every statement is prepared once per connection and keeps its generic plan; planner choices that only pay off for
// large scans are switched off, so that a plan made while a table was small stays right when it has a million rows.

import { ToolplaneError } from "@toolplane/protocol";
import pg from "pg";
import { type Clock, systemClock } from "../ports/clock.ts";
import { isOfTheStatement, understandDatabaseError } from "./database-error.ts";
import { createRefusedWrites } from "./refused-writes.ts";
import { type Part, type Statement, sendTogether } from "./together.ts";

export type { Part, Statement } from "./together.ts";

export interface Queryer {
  query<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Runs `work` after what was written here is committed, and never if it is not. In a transaction that is after its commit, and
   * `transaction` waits for the work. Outside of one, every statement is committed when it answers, so the work runs at once.
   */
  afterCommit(work: () => void | Promise<void>): Promise<void>;
}

export interface Transaction extends Queryer {
  /**
   * The last statement: the COMMIT is sent with it, and both are waited for at once. What must happen before the commit happens before
   * this. A caller that gets an error from here does not know whether it was committed, unless the server gave the error.
   */
  last<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

export interface DatabaseStats {
  readonly statements: number;
  readonly connections: number;
  readonly waiting: number;
}

export interface Database extends Queryer {
  /** BEGIN is sent with the first statement; without one nothing is sent. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * A transaction whose statements need nothing of each other's answers: they are sent at once, and waited for once. Resolves to
   * their rows, in order. When one of them fails, nothing of them stays.
   */
  together(parts: readonly Part[]): Promise<readonly object[][]>;
  /** A connection of its own, for LISTEN. The caller ends it. */
  connect(): Promise<pg.Client>;
  /** True when it answers but stores nothing: its disk is full, or it is a read-only copy. */
  refusesWrites(): boolean;
  stats(): DatabaseStats;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** `pg` connection settings: `connectionString`, or host / port / user / database. */
  readonly connection: pg.ClientConfig;
  /** Runs as this role when given; see the migrations for what it may do. */
  readonly role?: string | undefined;
  readonly maxConnections?: number | undefined;
  readonly statementTimeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

// A database or a user may have other settings, and the engine relies on these: statements decide by what is committed when they
// meet a row, and times arrive in the one format the driver reads.
const SESSION = ["default_transaction_isolation=read\\ committed", "datestyle=ISO", "timezone=UTC"];

const PLANNER = [
  "plan_cache_mode=force_generic_plan",
  "enable_seqscan=off",
  "enable_hashjoin=off",
  "enable_mergejoin=off",
  "enable_bitmapscan=off",
  "jit=off",
];

// Our statements take milliseconds; one that takes this long waits for a lock that will not be released.
const STATEMENT_TIMEOUT_MS = 30_000;
// The server ends a long statement by itself. When there is no answer even then, the server is stopped or unreachable, and only
// giving up the connection helps.
const ANSWER_GRACE_MS = 5_000;
// Between two statements of a transaction lie microseconds. A process that stands still there (paused, swapped out, cut off)
// would keep its rows locked; the server releases them after this time.
const IDLE_IN_TRANSACTION_MS = 10_000;

/** Every connection is a process of PostgreSQL. Few are enough, because the hot paths share statements. */
export const DEFAULT_CONNECTIONS = 10;

export const createDatabase = (options: DatabaseOptions): Database => {
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  const settings = [...SESSION, ...PLANNER, ...(options.role === undefined ? [] : [`role=${options.role}`])];
  const config: pg.ClientConfig = {
    ...options.connection,
    options: settings.map((setting) => `-c ${setting}`).join(" "),
    application_name: options.connection.application_name ?? "toolplane",
    keepAlive: true,
  };
  const pool = new pg.Pool({
    ...config,
    max: options.maxConnections ?? DEFAULT_CONNECTIONS,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + ANSWER_GRACE_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    // A statement may be sent before the one before it has answered: BEGIN and COMMIT take no round trip of their own.
    pipeline: true,
    connectionTimeoutMillis: 10_000,
  });
  // The pool replaces a broken connection, and its user learns it by the statement that fails. Without listeners an error would
  // end the process: the pool's own listener covers idle connections only, not one in a transaction.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const writes = createRefusedWrites(options.clock ?? systemClock);
  let statements = 0;
  let closed = false;

  const runOn = async <Row extends object>(
    client: pg.PoolClient,
    statement: Statement,
    values: readonly unknown[],
  ): Promise<Row[]> => {
    statements++;
    try {
      const result = await client.query<Row>({ name: statement.name, text: statement.text, values: [...values] });
      writes.succeeded(statement.name);
      return result.rows;
    } catch (error) {
      writes.failed(statement.name, error);
      throw understandDatabaseError(error, statement.name);
    }
  };

  const acquire = (): Promise<pg.PoolClient> =>
    pool.connect().catch((error: unknown) => {
      throw understandDatabaseError(error, "connect");
    });

  const sendAll = async (client: pg.PoolClient, parts: readonly Part[]): Promise<readonly object[][]> => {
    const name = parts.map(({ statement }) => statement.name).join(" + ");
    statements += parts.length;
    try {
      const rows = await sendTogether(client, parts);
      writes.succeeded(name);
      return rows;
    } catch (error) {
      writes.failed(name, error);
      throw understandDatabaseError(error, name);
    }
  };

  return {
    async query(statement, values = []) {
      if (closed) throw new ToolplaneError("storage_error", "the database connection is closed");
      const client = await acquire();
      let broken: Error | undefined;
      try {
        return await runOn(client, statement, values);
      } catch (error) {
        // The pool's own `query` would close the connection, and lose its prepared plans, for any error.
        if (!isOfTheStatement(error)) broken = error as Error;
        throw error;
      } finally {
        client.release(broken);
      }
    },
    async transaction(work) {
      const client = await acquire();
      const command = (text: "begin" | "commit"): Promise<pg.QueryResult> =>
        client.query(text).then(
          (result) => {
            writes.succeeded(text);
            return result;
          },
          (error: unknown) => {
            writes.failed(text, error);
            throw understandDatabaseError(error, text);
          },
        );
      const committed: (() => void | Promise<void>)[] = [];
      let begun: Promise<pg.QueryResult> | undefined;
      let ending: Promise<pg.QueryResult> | undefined;
      const run = async <Row extends object>(statement: Statement, values: readonly unknown[], isLast: boolean) => {
        if (ending !== undefined)
          throw new ToolplaneError(
            "internal_error",
            `${statement.name} comes after the last statement of its transaction`,
          );
        const together = begun === undefined && statement.holds === true;
        begun ??= command("begin");
        // Without its BEGIN a statement would be committed alone: one that writes waits for the answer.
        if (!together) await begun;
        const answer = runOn<Row>(client, statement, values);
        if (isLast) {
          ending = command("commit");
          ending.catch(() => {});
        }
        return together ? (await Promise.all([answer, begun]))[0] : answer;
      };
      const tx: Transaction = {
        query: (statement, values = []) => run(statement, values, false),
        last: (statement, values = []) => run(statement, values, true),
        afterCommit(after) {
          committed.push(after);
          return Promise.resolve();
        },
      };
      let value: Awaited<ReturnType<typeof work>>;
      let broken: Error | undefined;
      try {
        value = await work(tx);
        // The server answers the commit of a failed transaction with ROLLBACK and no error.
        if (begun !== undefined && (await (ending ?? command("commit"))).command !== "COMMIT")
          throw new ToolplaneError("storage_error", "the transaction was not committed: one of its statements failed");
      } catch (error) {
        if (begun !== undefined)
          await client.query("rollback").catch((failure: Error) => {
            broken = failure;
          });
        // Rethrown as it is: statements have already translated their errors, and a programming error is not the database's.
        throw error;
      } finally {
        client.release(broken);
      }
      for (const after of committed) await after();
      return value;
    },
    async together(parts) {
      if (closed) throw new ToolplaneError("storage_error", "the database connection is closed");
      const client = await acquire();
      let broken: Error | undefined;
      try {
        return await sendAll(client, parts);
      } catch (error) {
        if (!isOfTheStatement(error)) broken = error as Error;
        throw error;
      } finally {
        client.release(broken);
      }
    },
    async afterCommit(work) {
      await work();
    },
    async connect() {
      const client = new pg.Client(config);
      client.on("error", () => {});
      await client.connect().catch((error: unknown) => {
        throw understandDatabaseError(error, "connect");
      });
      return client;
    },
    refusesWrites: () => writes.refusing(),
    stats: () => ({ statements, connections: pool.totalCount, waiting: pool.waitingCount }),
    async close() {
      if (closed) return;
      closed = true;
      await pool.end();
    },
  };
};
