// Where everything is stored: the embedded server, or a PostgreSQL of your own. Users of the store connect by `connection` and do
// not know which it is; the connection stays the same when an embedded server is started again.

import type pg from "pg";

export interface Store {
  readonly kind: "embedded" | "postgres";
  readonly connection: pg.ClientConfig;
  /** The login that owns the tables; undefined when `connection` is also for migrations. */
  readonly migrationConnection: pg.ClientConfig | undefined;
  /** False while the embedded server is away and being started again. */
  ready(): boolean;
  /** How often the server had to be found or started; more than 1 means that it was away at least once. */
  lives(): number;
  /** Resolves when it is there; at once when it never was away. */
  untilReady(): Promise<void>;
  /** Tells others where we serve. */
  announce(address: string): Promise<void>;
  /** Resolves when the store is lost: another process has taken it over. */
  readonly lost: Promise<Error>;
  stop(): Promise<void>;
}

const never = new Promise<never>(() => {});

export interface OwnStoreOptions {
  readonly databaseUrl: string;
  readonly migrationUrl: string | undefined;
  readonly name: string;
}

/** A server that the operator runs; it lists our connections under this name. */
export const openOwnStore = ({ databaseUrl, migrationUrl, name }: OwnStoreOptions): Store => ({
  kind: "postgres",
  connection: { connectionString: databaseUrl, application_name: name },
  migrationConnection: migrationUrl === undefined ? undefined : { connectionString: migrationUrl },
  ready: () => true,
  lives: () => 1,
  untilReady: async () => undefined,
  announce: async () => undefined,
  lost: never,
  stop: async () => undefined,
});
