// The public face of @toolplane/testkit: named exports only, one block per noun.

// postgres
export {
  findDebianPostgres,
  startDebianPostgres,
  startTestPostgres,
  type TestPostgresOptions,
  withPostgres,
} from "./postgres.ts";
export { createTestDatabase, type DatabaseTemplate, type TestDatabase } from "./postgres-database.ts";
export { type SharedPostgres, sharedPostgres } from "./postgres-run.ts";
