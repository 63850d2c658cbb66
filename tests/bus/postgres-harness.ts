// Buses on one test database, each with a pool and a doorbell of its own, as separate processes would have them.

import type { DrainOptions } from "@toolplane/bus";
import { type Clock, createIds, type Log, silentLog, systemClock } from "@toolplane/engine";
import {
  createDatabase,
  createPostgresBus,
  createPostgresDoorbell,
  type Database,
  type Faults,
  migrate,
  noFaults,
} from "@toolplane/engine/internal";
import { socketUrl } from "@toolplane/processes";
import {
  createTestDatabase,
  ENGINE_TEMPLATE,
  eventually,
  type LogHarness,
  queryTestDatabase,
  sharedPostgres,
  type TestDatabase,
} from "@toolplane/testkit";
import { createManualClock } from "./manual-clock.ts";

export interface PostgresProcess {
  readonly db: Database;
  readonly doorbell: ReturnType<typeof createPostgresDoorbell>;
  readonly bus: ReturnType<typeof createPostgresBus>;
  close(drain?: DrainOptions): Promise<void>;
}

export interface ProcessOptions {
  /** The name its connections have on the server. */
  readonly name?: string;
  readonly clock?: Clock;
  readonly faults?: Faults;
  readonly log?: Log;
}

export interface PostgresHarness extends LogHarness {
  readonly database: TestDatabase;
  /** A pool beside all buses, for looking and for transactions of a test's own. */
  readonly db: Database;
  start(options?: ProcessOptions): PostgresProcess;
  /** Rows of a statement on a connection of its own. */
  rows(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Ends the connections of this name; the server stays. */
  cut(name: string): Promise<void>;
  /** Nobody can connect, and nobody is connected, until the returned function is called. */
  lockOut(): Promise<() => Promise<void>>;
}

const CUT = `
select pg_terminate_backend(pid) from pg_stat_activity
 where datname = current_database() and application_name = $1 and pid <> pg_backend_pid()`;

export const openPostgresHarness = async (): Promise<PostgresHarness> => {
  const database = await createTestDatabase(ENGINE_TEMPLATE);
  const { role } = await migrate({ connectionString: database.url });
  const processes: PostgresProcess[] = [];
  const db = createDatabase({ connection: { connectionString: database.url } });

  const start = (options: ProcessOptions = {}): PostgresProcess => {
    const { name = "toolplane", faults = noFaults, log = silentLog, clock = systemClock } = options;
    const own = createDatabase({
      connection: { connectionString: database.url, application_name: name },
      role,
      maxConnections: 4,
    });
    const ground = { db: own, clock, log };
    const doorbell = createPostgresDoorbell(ground);
    const bus = createPostgresBus({ ...ground, doorbell, ids: createIds(), faults });
    let closed: Promise<void> | undefined;
    const closeAll = async (drain: DrainOptions): Promise<void> => {
      await bus.close(drain);
      await doorbell.close();
      await own.close();
    };
    const close = (drain: DrainOptions = { drainMs: 0 }): Promise<void> => {
      closed ??= closeAll(drain);
      return closed;
    };
    const process = { db: own, doorbell, bus, close };
    processes.push(process);
    return process;
  };

  const rows: PostgresHarness["rows"] = (text, values = []) => queryTestDatabase(database.url, text, values);

  const cut = async (name: string): Promise<void> => {
    await rows(CUT, [name]);
  };

  const onServer = async (text: string): Promise<void> => {
    await queryTestDatabase(socketUrl(await sharedPostgres(), "postgres"), text);
  };

  const lockOut = async (): Promise<() => Promise<void>> => {
    await onServer(`alter database "${database.name}" allow_connections false`);
    await onServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database.name}'`);
    return () => onServer(`alter database "${database.name}" allow_connections true`);
  };

  return {
    database,
    db,
    start,
    rows,
    cut,
    lockOut,
    connect: () => {
      const { bus, close } = start();
      return Promise.resolve({ ...bus, close: (drain = {}) => close(drain) });
    },
    logged: (projectId) =>
      db.query(
        {
          name: "test_logged",
          text: "select subject, headers::json as headers, payload from bus.messages where project_id = $1 order by id",
        },
        [projectId],
      ),
    async close() {
      await Promise.all(processes.map((process) => process.close()));
      await db.close();
      await database.drop();
    },
  };
};

/**
 * Two processes that know of each other and have nothing left to say: the first has answered the second. Their clocks stand
 * still, so neither takes itself for alone. The harness has no other process.
 */
export const startCompany = async (
  harness: PostgresHarness,
  clocks: readonly Clock[] = [],
): Promise<readonly [PostgresProcess, PostgresProcess]> => {
  const one = harness.start({ clock: clocks[0] ?? createManualClock() });
  await eventually(() => one.doorbell.stats().sent === 1);
  const other = harness.start({ clock: clocks[1] ?? createManualClock() });
  await eventually(() => one.doorbell.stats().sent === 2 && other.doorbell.stats().sent === 1);
  return [one, other];
};
