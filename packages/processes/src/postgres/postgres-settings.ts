// The settings an embedded server runs with. They are passed on the command line at every start, so a new release
// changes them without touching files in the data directory.

export interface PostgresTuning {
  readonly maxConnections: number;
  /** Loses the database when the machine (not only the process) stops; for tests and for benchmarks of other parts. */
  readonly unsafeNoSync: boolean;
  readonly extra: Readonly<Record<string, string>>;
}

export interface PostgresListening {
  readonly socketDir: string;
  readonly port: number;
  readonly loopback: boolean;
  /** Shown in the titles of the server's processes. */
  readonly clusterName: string;
}

// With these settings a machine crash loses the database, so only the option of that name sets them.
const NO_SYNC = { fsync: "off", full_page_writes: "off", synchronous_commit: "off" } as const;

export const planSettings = (tuning: PostgresTuning, listening: PostgresListening): Record<string, string> => ({
  listen_addresses: listening.loopback ? "127.0.0.1" : "",
  port: String(listening.port),
  unix_socket_directories: listening.socketDir,
  // The directory is 0700; this holds even if a person opens it.
  unix_socket_permissions: "0700",
  cluster_name: listening.clusterName,
  max_connections: String(tuning.maxConnections),
  // Enough to keep the live rows of a large project in memory, and small enough for a laptop.
  shared_buffers: "128MB",
  // Names in messages and timestamps do not depend on the machine.
  lc_messages: "C",
  timezone: "UTC",
  log_timezone: "UTC",
  // Statement errors go to their sender, not to the log: their texts quote rows and arguments (I8).
  log_min_messages: "log",
  log_error_verbosity: "terse",
  log_checkpoints: "off",
  // A turn's flush is short; a connection that is idle inside a transaction is a bug and would hold row locks for ever.
  idle_in_transaction_session_timeout: "60s",
  ...(tuning.unsafeNoSync ? NO_SYNC : {}),
  ...tuning.extra,
});

export const settingsToFlags = (settings: Readonly<Record<string, string>>): string[] =>
  Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
