// A fresh database on the shared server for a test file, dropped at its end.
// With a template the schema is made once per run and cloned (tens of milliseconds) for all others; an advisory
// lock lets one process make it while the others wait, and it gets its name only when it is complete.

import { randomBytes } from "node:crypto";
import { socketUrl } from "@toolplane/processes";
import { UsageError } from "@toolplane/protocol";
import { Pool, type PoolClient } from "pg";
import { withTestClient } from "./postgres-client.ts";
import { copyDatabase, databaseExists, dropDatabase, lockTemplates, renameDatabase } from "./postgres-database.sql.ts";
import { type SharedPostgres, sharedPostgres } from "./postgres-run.ts";

export interface DatabaseTemplate {
  /** Tells schemas apart within a run: lower-case letters, digits and underscores. */
  readonly name: string;
  /** Brings an empty database to the schema and closes its connections; runs once per run. */
  readonly migrate: (url: string) => Promise<void>;
}

export interface TestDatabase extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  readonly serverVersion: string;
  drop(): Promise<void>;
}

/** Longer than most tests need between two databases, so the connection is used again. It does not keep a process alive. */
const ADMIN_IDLE_MS = 10_000;

const isPlainName = (name: string): boolean => /^[a-z][a-z0-9_]{0,40}$/.test(name);

const urlOf = (server: SharedPostgres, database: string): string => socketUrl(server, database);

/** Templates this process has seen; they stay as long as the server. */
const seen = new Set<string>();

const ensureTemplate = async (server: SharedPostgres, template: DatabaseTemplate): Promise<string> => {
  const name = `template_${template.name}`;
  if (seen.has(name)) return name;
  await withTestClient(urlOf(server, "postgres"), async (admin) => {
    await lockTemplates(admin);
    if (await databaseExists(admin, name)) return;
    const building = `building_${template.name}_${randomBytes(6).toString("hex")}`;
    await copyDatabase(admin, "template0", building);
    await template.migrate(urlOf(server, building));
    await renameDatabase(admin, building, name);
  });
  seen.add(name);
  return name;
};

/** One connection of this process makes all its databases: opening one takes a third as long as copying a database. */
let admin: Pool | undefined;

const asAdmin = async (server: SharedPostgres, work: (client: PoolClient) => Promise<void>): Promise<void> => {
  admin ??= new Pool({
    connectionString: urlOf(server, "postgres"),
    max: 1,
    idleTimeoutMillis: ADMIN_IDLE_MS,
    allowExitOnIdle: true,
  }).on("error", () => undefined);
  const client = await admin.connect();
  try {
    await work(client);
  } finally {
    client.release();
  }
};

/** A new database, empty or cloned from the template. */
export const createTestDatabase = async (template?: DatabaseTemplate): Promise<TestDatabase> => {
  if (template !== undefined && !isPlainName(template.name)) {
    throw new UsageError(`a template's name is lower-case letters, digits and underscores, not ${template.name}`);
  }
  const server = await sharedPostgres();
  const source = template === undefined ? "template0" : await ensureTemplate(server, template);
  const name = `test_${randomBytes(8).toString("hex")}`;
  await asAdmin(server, (client) => copyDatabase(client, source, name));
  const drop = (): Promise<void> => asAdmin(server, (client) => dropDatabase(client, name));
  return { name, url: urlOf(server, name), serverVersion: server.version, drop, [Symbol.asyncDispose]: drop };
};
