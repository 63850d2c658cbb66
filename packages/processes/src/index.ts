// The public face of @toolplane/processes: named exports only, one block per noun.

// guarded
export { type ExitStatus, type GuardedOptions, type GuardedProcess, spawnGuarded } from "./guarded/spawn-guarded.ts";

// postgres
export { temporaryRoot } from "./postgres/cache-directory.ts";
export { type PostgresBinaries, readPostgresBinaries } from "./postgres/postgres-binaries.ts";
export type { PostgresProbe } from "./postgres/postmaster-file.ts";
export { pickRunAs, type RunAs } from "./postgres/run-as.ts";
export {
  type PostgresOptions,
  probePostgres,
  type RunningPostgres,
  socketUrl,
  startPostgres,
} from "./postgres/start-postgres.ts";
