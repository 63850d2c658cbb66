// A PostgreSQL for one contestant: the same programs and settings for all of them, on the disk, synced, reached over
// loopback by its users. What it counts is read over a connection to another database.

import { createDatabase } from "@toolplane/engine/internal";
import { queryTestDatabase, startTestPostgres } from "@toolplane/testkit";
import { READ_COUNTERS, READ_SERVER } from "../../engine/counters.sql.ts";
import type { ServerFacts } from "../../engine/counters.ts";
import type { StoreCounts } from "../contestant.ts";
import { DATABASE, PREPARE, READ_NOW } from "./postgres.sql.ts";

/** Room for the pools of every contestant. */
const MAX_CONNECTIONS = 200;
const SETTINGS = { shared_preload_libraries: "pg_stat_statements" } as const;

export interface PostgresStore extends AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  /** Version and settings, for the report. */
  readonly description: string;
  readCounts(): Promise<StoreCounts>;
  /** The number a statement gives, asked in the contestant's database. */
  count(text: string): Promise<number>;
}

const describe = (facts: ServerFacts): string =>
  `PostgreSQL ${facts.version} (fsync ${facts.fsync}, synchronous_commit ${facts.synchronous_commit}, ` +
  `wal_sync_method ${facts.wal_sync_method}, full_page_writes ${facts.full_page_writes}, shared_buffers ${facts.shared_buffers})`;

export const openPostgres = async ({ sync = true } = {}): Promise<PostgresStore> => {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(
    await startTestPostgres({ sync, loopback: true, maxConnections: MAX_CONNECTIONS, settings: SETTINGS }),
  );
  const aside = createDatabase({ connection: { connectionString: server.loopbackUrl() }, maxConnections: 1 });
  stack.defer(() => aside.close());
  const ask = async <Row extends object>(text: string): Promise<Row | undefined> =>
    (await aside.query<Row>({ name: "", text }))[0];
  for (const text of PREPARE) await ask(text);
  const facts = await ask<ServerFacts>(READ_SERVER);
  const counters = READ_COUNTERS(facts?.version_number ?? 0, `'${DATABASE}'`);
  const url = server.loopbackUrl(DATABASE);
  const owned = stack.move();
  return {
    pid: server.pid,
    url,
    description: describe(facts as ServerFacts),
    async readCounts() {
      const now = await ask<{ statements: number; bytes: number }>(READ_NOW);
      const late = await ask<{ commits: number; wal_syncs: number }>(counters);
      return { statements: now?.statements, bytes: now?.bytes, commits: late?.commits, syncs: late?.wal_syncs };
    },
    count: async (text) => Number((await queryTestDatabase(url, text))[0]?.count),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};
