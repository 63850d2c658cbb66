// A fresh database on the shared server for a test file, dropped at its end.
// With a template the schema is made once per run and cloned (tens of milliseconds) for everybody else; an advisory
// lock lets one process make it while the others wait, and it gets its name only when it is complete.

import { randomBytes } from "node:crypto";
import { socketUrl } from "@toolplane/processes";
import { UsageError } from "@toolplane/protocol";
import { Client } from "pg";
import { type SharedPostgres, sharedPostgres } from "./postgres-run.ts";

export interface DatabaseTemplate {
  /** Tells schemas apart within a run: lower-case letters, digits and underscores. */
  readonly name: string;
  /** Brings an empty database to the schema; runs once per run. */
  readonly migrate: (url: string) => Promise<void>;
}

export interface TestDatabase extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  readonly serverVersion: string;
  drop(): Promise<void>;
}

// Any number will do as long as nobody else locks it on the `postgres` database of a test server.
const TEMPLATE_LOCK = 7_420_001;

const isPlainName = (name: string): boolean => /^[a-z][a-z0-9_]{0,40}$/.test(name);

const withAdmin = async <T>(server: SharedPostgres, body: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client({ connectionString: socketUrl(server.socketDir, server.port, "postgres") });
  await client.connect();
  try {
    return await body(client);
  } finally {
    await client.end();
  }
};

const ensureTemplate = (server: SharedPostgres, template: DatabaseTemplate): Promise<string> =>
  withAdmin(server, async (admin) => {
    const name = `template_${template.name}`;
    await admin.query("select pg_advisory_lock($1)", [TEMPLATE_LOCK]);
    const found = await admin.query("select 1 from pg_database where datname = $1", [name]);
    if (found.rowCount === 1) return name;
    const building = `building_${template.name}_${randomBytes(6).toString("hex")}`;
    await admin.query(`create database "${building}" template template0`);
    await template.migrate(socketUrl(server.socketDir, server.port, building));
    await admin.query(`alter database "${building}" rename to "${name}"`);
    return name;
  });

/** A new database, empty or cloned from the template. */
export const createTestDatabase = async (template?: DatabaseTemplate): Promise<TestDatabase> => {
  if (template !== undefined && !isPlainName(template.name)) {
    throw new UsageError(`a template's name is lower-case letters, digits and underscores, not ${template.name}`);
  }
  const server = await sharedPostgres();
  const source = template === undefined ? "template0" : await ensureTemplate(server, template);
  const name = `test_${randomBytes(8).toString("hex")}`;
  await withAdmin(server, (admin) => admin.query(`create database "${name}" template "${source}"`));
  const drop = async (): Promise<void> => {
    await withAdmin(server, (admin) => admin.query(`drop database if exists "${name}" with (force)`));
  };
  const url = socketUrl(server.socketDir, server.port, name);
  return { name, url, serverVersion: server.version, drop, [Symbol.asyncDispose]: drop };
};
