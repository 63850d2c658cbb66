// Migrations: numbered .sql files, forward only, each in one transaction, all under an advisory lock, so that any number
// of processes may start at once. A file that was applied must never change: its hash is kept and compared.

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { ToolplaneError } from "@toolplane/protocol";
import pg from "pg";
import { understandDatabaseError } from "./database-error.ts";
import { APPLIED, CREATE_TABLE, LOCK, MAY_BE_ENGINE, RECORD, SERVER_VERSION, UNLOCK } from "./migrate.sql.ts";

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly hash: string;
}

interface AppliedRow {
  readonly number: number;
  readonly name: string;
  readonly hash: string;
}

export interface MigrateResult {
  readonly applied: readonly string[];
  /** The role to run the engine as, when this user may become it. */
  readonly role: string | undefined;
}

const FOLDER = new URL("./migrations/", import.meta.url);
const OLDEST_SERVER = 150_000;

export const readMigrations = async (): Promise<readonly Migration[]> => {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".sql")).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const sql = await readFile(new URL(file, FOLDER), "utf8");
      const number = Number(file.slice(0, 4));
      if (number !== index + 1)
        throw new ToolplaneError(
          "internal_error",
          `migration ${file} is out of sequence: expected number ${index + 1}`,
        );
      return { number, name: file.slice(0, -".sql".length), sql, hash: createHash("sha256").update(sql).digest("hex") };
    }),
  );
};

/** Which migrations are still to run; refuses a database that is ahead of this code or whose history differs. */
export const planMigrations = (known: readonly Migration[], applied: readonly AppliedRow[]): readonly Migration[] => {
  for (const row of applied) {
    const migration = known[row.number - 1];
    if (migration === undefined)
      throw new ToolplaneError(
        "conflict",
        `the database has migration ${row.name}, which this version does not know: upgrade Toolplane`,
      );
    if (migration.hash !== row.hash)
      throw new ToolplaneError(
        "conflict",
        `migration ${row.name} was applied with other content: migrations never change`,
      );
  }
  return known.slice(applied.length);
};

export const migrate = async (connection: pg.ClientConfig): Promise<MigrateResult> => {
  const migrations = await readMigrations();
  const client = new pg.Client({ ...connection, application_name: "toolplane migrate" });
  try {
    await client.connect();
    const version = Number((await client.query(SERVER_VERSION)).rows[0]?.version);
    if (!(version >= OLDEST_SERVER))
      throw new ToolplaneError(
        "bad_request",
        `PostgreSQL 15 or later is needed; this server is ${Math.trunc(version / 10_000)}`,
      );
    await client.query(LOCK);
    try {
      await client.query(CREATE_TABLE);
      const applied = (await client.query<AppliedRow>(APPLIED)).rows;
      const todo = planMigrations(migrations, applied);
      for (const migration of todo) {
        await client.query("begin");
        // The version row comes first: a second runner that got past the lock would stop here, not half way.
        await client.query(RECORD, [migration.number, migration.name, migration.hash]);
        await client.query(migration.sql);
        await client.query("commit");
      }
      const allowed = (await client.query(MAY_BE_ENGINE)).rows[0]?.allowed === true;
      return { applied: todo.map((migration) => migration.name), role: allowed ? "toolplane_engine" : undefined };
    } finally {
      await client.query("rollback").catch(() => {});
      await client.query(UNLOCK).catch(() => {});
    }
  } catch (error) {
    throw understandDatabaseError(error, "migrate");
  } finally {
    await client.end().catch(() => {});
  }
};
