// Snapshots of what the server and this process have done, and the difference of two.
//   MC1. Counts are taken when nothing runs, after every connection has handed in its numbers: they are exact.
//   MC2. The commits of the measuring itself are subtracted.

import { setTimeout as delay } from "node:timers/promises";
import type { Engine } from "@toolplane/engine";
import type { Database } from "@toolplane/engine/internal";
import { FLUSH_COUNTS, READ_COUNTERS, READ_SERVER, READ_TABLES } from "./counters.sql.ts";

export interface ServerFacts {
  readonly version: string;
  readonly version_number: number;
  readonly fsync: string;
  readonly synchronous_commit: string;
  readonly wal_sync_method: string;
  readonly full_page_writes: string;
  readonly shared_buffers: string;
}

export interface TableCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly hotUpdated: number;
  readonly deleted: number;
}

export interface Counts {
  readonly statements: number;
  readonly commits: number;
  readonly walSyncs: number;
  readonly walBytes: number;
  readonly walImages: number;
  readonly tables: ReadonlyMap<string, TableCounts>;
}

interface CounterRow {
  readonly commits: number;
  readonly wal_syncs: number;
  readonly wal_bytes: number;
  readonly wal_images: number;
}

interface TableRow {
  readonly table_name: string;
  readonly inserted: number;
  readonly updated: number;
  readonly hot_updated: number;
  readonly deleted: number;
}

// A connection hands in its numbers at most once a second by itself; the doorbell's cannot be asked to.
const HAND_IN_MS = 1_050;

export interface Counters {
  readonly server: ServerFacts;
  /** Call it only when nothing runs. */
  read(): Promise<Counts>;
}

export const createCounters = async (engine: Engine, db: Database, poolSize: number): Promise<Counters> => {
  const ask = async <Row extends object>(text: string): Promise<Row[]> => db.query<Row>({ name: "", text });
  const server = (await ask<ServerFacts>(READ_SERVER))[0] as ServerFacts;
  let own = 1;

  const flush = async (): Promise<void> => {
    await delay(HAND_IN_MS);
    // A process that is alone sends nothing, and has nothing to hand in.
    const before = engine.doorbell.stats().sent;
    engine.doorbell.ring("streams");
    await Promise.all(Array.from({ length: poolSize }, () => engine.db.query(FLUSH_COUNTS)));
    own += poolSize + engine.doorbell.stats().sent - before;
  };

  return {
    server,
    async read() {
      await flush();
      const statements = engine.db.stats().statements + engine.doorbell.stats().sent - (own - 1);
      const [row] = await ask<CounterRow>(READ_COUNTERS(server.version_number));
      const tables = await ask<TableRow>(READ_TABLES);
      const commits = (row?.commits ?? 0) - own;
      own += 2;
      return {
        statements,
        commits,
        walSyncs: row?.wal_syncs ?? 0,
        walBytes: row?.wal_bytes ?? 0,
        walImages: row?.wal_images ?? 0,
        tables: new Map(
          tables.map((one) => [
            one.table_name,
            { inserted: one.inserted, updated: one.updated, hotUpdated: one.hot_updated, deleted: one.deleted },
          ]),
        ),
      };
    },
  };
};

const NOTHING: TableCounts = { inserted: 0, updated: 0, hotUpdated: 0, deleted: 0 };

export const countsBetween = (before: Counts, after: Counts): Counts => ({
  statements: after.statements - before.statements,
  commits: after.commits - before.commits,
  walSyncs: after.walSyncs - before.walSyncs,
  walBytes: after.walBytes - before.walBytes,
  walImages: after.walImages - before.walImages,
  tables: new Map(
    [...after.tables].map(([name, now]) => {
      const then = before.tables.get(name) ?? NOTHING;
      return [
        name,
        {
          inserted: now.inserted - then.inserted,
          updated: now.updated - then.updated,
          hotUpdated: now.hotUpdated - then.hotUpdated,
          deleted: now.deleted - then.deleted,
        },
      ];
    }),
  ),
});
