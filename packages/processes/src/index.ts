// The public face of @toolplane/processes: named exports only, one block per noun.

// guard
export {
  createGuard,
  type Guard,
  processGuard,
} from "./guard/guard.ts";

// guarded
export {
  type ExitStatus,
  type GuardedProcess,
  spawnGuarded,
} from "./guarded/spawn-guarded.ts";

// postgres
export { temporaryRoot } from "./postgres/cache-directory.ts";
export { findLivePostgres, isOfEarlierVersion, type LivePostgres, probePostgres } from "./postgres/live-server.ts";
export { OWNER, RUNTIME } from "./postgres/logins.ts";
export { type PostgresBinaries, readPostgresBinaries } from "./postgres/postgres-binaries.ts";
export { pickPreviousRunAs, pickRunAs, type RunAs } from "./postgres/run-as.ts";
export { findFreePort, isRefused, type SocketLogin, socketUrl } from "./postgres/server-connection.ts";
export { makeVerifier, USUAL_ROUNDS } from "./postgres/server-key.ts";
export { type PostgresOptions, type RunningPostgres, startPostgres } from "./postgres/start-postgres.ts";

// secrets
export { ensureSecret } from "./secrets/secret-file.ts";

// table
export { tryReadCpuTime } from "./table/cpu-time.ts";
export { type ProcessRow, readProcessTable, tryReadProcess } from "./table/process-table.ts";

// users
export { type LentUser, lendUser } from "./users/lend-user.ts";
export { findUnreachable } from "./users/reach.ts";
