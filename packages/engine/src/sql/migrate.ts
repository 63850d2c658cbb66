// Migrations: numbered .sql files, forward only, each in one transaction, all under an advisory lock, so that any number
// of processes may start at once. A file that was applied must never change: its hash is kept and compared.
// The plane's login need not own the tables: it checks whether a migration is pending, and only then the owner's login is used.

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { ToolplaneError } from "@toolplane/protocol";
import pg from "pg";
import { understandDatabaseError } from "./database-error.ts";
import { APPLIED, CREATE_TABLE, LOCK, LOOK, MAY_BE_ENGINE, RECORD, SERVER_VERSION, UNLOCK } from "./migrate.sql.ts";
import { checkSameDatabase, explainOwner, noRights } from "./migration-login.ts";

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
  /** The role to run the engine as, when the login of the first connection may become it. */
  readonly role: string | undefined;
}

const FOLDER = new URL("./migrations/", import.meta.url);
const OLDEST_SERVER = 150_000;

const readFiles = async (): Promise<readonly Migration[]> => {
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

let read: Promise<readonly Migration[]> | undefined;

/** Read once in a process: the files belong to its version. A failed reading is tried again. */
export const readMigrations = (): Promise<readonly Migration[]> => {
  read ??= readFiles().catch((error: unknown) => {
    read = undefined;
    throw error;
  });
  return read;
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

interface Look {
  readonly made: boolean;
  readonly readable: boolean;
  readonly login: string;
}

const INSUFFICIENT_PRIVILEGE = "42501";

const withConnection = async <T>(
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
  explain: (error: unknown) => unknown = (error) => error,
): Promise<T> => {
  const client = new pg.Client({ ...connection, application_name: "toolplane migrate" });
  // When the server dies, the failing statement reports it.
  client.on("error", () => {});
  try {
    await client.connect().catch((error: unknown) => {
      throw explain(error);
    });
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
};

/** Undefined when this login may not see it. */
const readPending = async (client: pg.Client, { made, readable }: Look, known: readonly Migration[]) => {
  if (!made) return known;
  return readable ? planMigrations(known, (await client.query<AppliedRow>(APPLIED)).rows) : undefined;
};

const look = async (client: pg.Client): Promise<Look> =>
  (await client.query<Look>(LOOK)).rows[0] ?? { made: false, readable: false, login: "" };

/** One sentence for the person who must use another login. */
const explainRefusal = (error: unknown, login: string): unknown =>
  (error as { readonly code?: unknown }).code !== INSUFFICIENT_PRIVILEGE
    ? error
    : new ToolplaneError("conflict", `migrations are pending, and the database login ${login} may not apply them`, {
        detail: {
          login,
          todo: "start once with TOOLPLANE_MIGRATION_DATABASE_URL, the URL of the login that owns the tables",
        },
        cause: error,
      });

const applyPending = async (client: pg.Client, known: readonly Migration[]): Promise<readonly string[]> => {
  await client.query(LOCK);
  const { made, login } = await look(client);
  try {
    if (!made) await client.query(CREATE_TABLE);
    const todo = planMigrations(known, (await client.query<AppliedRow>(APPLIED)).rows);
    for (const migration of todo) {
      await client.query("begin");
      // The version row comes first: a second runner that got past the lock would fail here, not half way.
      await client.query(RECORD, [migration.number, migration.name, migration.hash]);
      await client.query(migration.sql);
      await client.query("commit");
    }
    return todo.map((migration) => migration.name);
  } catch (error) {
    throw explainRefusal(error, login);
  } finally {
    await client.query("rollback").catch(() => {});
    await client.query(UNLOCK).catch(() => {});
  }
};

/** Applies pending migrations with `owner`, or with `connection` when no owner is given. */
export const migrate = async (connection: pg.ClientConfig, owner?: pg.ClientConfig): Promise<MigrateResult> => {
  const known = await readMigrations();
  const applyAs = (login: pg.ClientConfig, plane: pg.Client): Promise<readonly string[]> =>
    withConnection(
      login,
      async (client) => {
        await checkSameDatabase(plane, client);
        return applyPending(client, known);
      },
      explainOwner,
    );
  try {
    return await withConnection(connection, async (client) => {
      const version = Number((await client.query(SERVER_VERSION)).rows[0]?.version);
      if (!(version >= OLDEST_SERVER))
        throw new ToolplaneError(
          "bad_request",
          `PostgreSQL 15 or later is needed; this server is ${Math.trunc(version / 10_000)}`,
        );
      const mayBeEngine = async (): Promise<boolean> => (await client.query(MAY_BE_ENGINE)).rows[0]?.allowed === true;
      const found = await look(client);
      if (owner === undefined && found.made && !found.readable && !(await mayBeEngine())) throw noRights(found.login);
      const pending = await readPending(client, found, known);
      let applied: readonly string[] = [];
      if (pending?.length !== 0)
        applied = await (owner === undefined ? applyPending(client, known) : applyAs(owner, client));
      const allowed = await mayBeEngine();
      if (!allowed && !(await look(client)).readable) throw noRights(found.login);
      return { applied, role: allowed ? "toolplane_engine" : undefined };
    });
  } catch (error) {
    throw understandDatabaseError(error, "migrate");
  }
};
