// Buses on one test database, each with a pool and a doorbell of its own, as separate processes would have them.

import type { DrainOptions } from "@toolplane/bus";
import {
  createDatabase,
  createIds,
  createPostgresBus,
  createPostgresDoorbell,
  type Database,
  type Faults,
  type Log,
  migrate,
  noFaults,
  silentLog,
  systemClock,
} from "@toolplane/engine";
import { type BusHarness, createTestDatabase, type TestDatabase } from "@toolplane/testkit";

export interface PostgresProcess {
  readonly db: Database;
  readonly doorbell: ReturnType<typeof createPostgresDoorbell>;
  readonly bus: ReturnType<typeof createPostgresBus>;
  close(drain?: DrainOptions): Promise<void>;
}

export interface ProcessOptions {
  readonly name?: string;
  readonly lookAgainMs?: number;
  readonly faults?: Faults;
  readonly log?: Log;
}

export interface PostgresHarness extends BusHarness {
  readonly database: TestDatabase;
  /** A pool beside all buses, for looking and for transactions of a test's own. */
  readonly db: Database;
  start(options?: ProcessOptions): PostgresProcess;
}

/** Short, because in these tests processes do die with messages in their hands. */
const LOOK_AGAIN_MS = 250;

export const openPostgresHarness = async (): Promise<PostgresHarness> => {
  let role: string | undefined;
  const database = await createTestDatabase();
  ({ role } = await migrate({ connectionString: database.url }));
  const processes: PostgresProcess[] = [];
  const db = createDatabase({ connection: { connectionString: database.url } });

  const start = (options: ProcessOptions = {}): PostgresProcess => {
    const { name = "toolplane", lookAgainMs = LOOK_AGAIN_MS, faults = noFaults, log = silentLog } = options;
    const own = createDatabase({
      connection: { connectionString: database.url, application_name: name },
      role,
      maxConnections: 4,
    });
    const ground = { db: own, clock: systemClock, log };
    const doorbell = createPostgresDoorbell(ground);
    const bus = createPostgresBus({ ...ground, doorbell, ids: createIds(), faults, lookAgainMs });
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

  return {
    database,
    db,
    start,
    connect: () => {
      const { bus, close } = start();
      return Promise.resolve({ ...bus, close: (drain = {}) => close(drain) });
    },
    deadLetters: (projectId) =>
      db.query(
        {
          name: "test_dead_letters",
          text: "select subject, payload, reason, attempts from state.dead_letters where project_id = $1 and kind = 'message'",
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
