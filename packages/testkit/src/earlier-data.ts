// A database as an earlier version left it when it was killed: its migrations, and its rows from a file. A line of the file is
// one row; the first says which version it was and when it died. Times are moved, so that it died a moment ago.

import { readFileSync } from "node:fs";
import { readMigrations } from "@toolplane/engine/internal";
import type { Client } from "pg";
import {
  CREATE_MIGRATIONS,
  GO_ON_COUNTING,
  insertRow,
  RECORD_MIGRATION,
  WITHOUT_TRIGGERS,
} from "./earlier-data.sql.ts";
import { withTestClient } from "./postgres-client.ts";

interface Left {
  /** How many migrations it had. */
  readonly migrations: number;
  readonly killed_at: string;
}

interface LeftRow {
  readonly table: string;
  readonly row: Readonly<Record<string, unknown>>;
}

// As the server writes a time into JSON.
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?\+00:00$/;

const moved = (row: LeftRow["row"], byMs: number): string =>
  JSON.stringify(row, (_, value: unknown) =>
    typeof value === "string" && TIME.test(value) ? new Date(Date.parse(value) + byMs).toISOString() : value,
  );

const makeSchema = async (client: Client, count: number): Promise<void> => {
  await client.query(CREATE_MIGRATIONS);
  for (const { number, name, hash, sql } of (await readMigrations()).slice(0, count)) {
    await client.query(sql);
    await client.query(RECORD_MIGRATION, [number, name, hash]);
  }
};

/** Fills an empty database; the processes that held leases died `agoMs` ago. */
export const loadEarlierData = (url: string, file: URL, agoMs: number): Promise<void> =>
  withTestClient(url, async (client) => {
    const [first = "", ...lines] = readFileSync(file, "utf8").trimEnd().split("\n");
    const { migrations, killed_at } = JSON.parse(first) as Left;
    await makeSchema(client, migrations);
    await client.query(WITHOUT_TRIGGERS);
    const byMs = Date.now() - agoMs - Date.parse(killed_at);
    for (const line of lines) {
      const { table, row } = JSON.parse(line) as LeftRow;
      await client.query(insertRow(table, Object.keys(row)), [moved(row, byMs)]);
    }
    await client.query(GO_ON_COUNTING);
  });
