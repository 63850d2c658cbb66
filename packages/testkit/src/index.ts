// The public face of @toolplane/testkit: named exports only, one block per noun.

// nats
export { type NatsOptions, startNats, type TestNats } from "./nats.ts";

// postgres
export {
  findDebianPostgres,
  startDebianPostgres,
  startTestPostgres,
  type TestPostgres,
  type TestPostgresOptions,
  withPostgres,
} from "./postgres.ts";
export { queryTestDatabase, type TestRow, withTestClient } from "./postgres-client.ts";
export { createTestDatabase, type DatabaseTemplate, type TestDatabase } from "./postgres-database.ts";
export { type SharedPostgres, sharedPostgres } from "./postgres-run.ts";

// engine
export {
  DEFAULT_TOOLS,
  ENGINE_TEMPLATE,
  startTestEngine,
  type TestEngine,
  type ToolSeed,
  toolUpload,
} from "./engine/test-engine.ts";
