// The public face of @toolplane/testkit: named exports only, one block per noun.

// api
export { type Answer, type AnswerBody, type Asked, askApi, readAnswer } from "./api/answer.ts";
// bus
export {
  type BusHarness,
  type BusRoom,
  type Collector,
  createCollector,
  createLatch,
  type DeadLetter,
  eventually,
  neverSettles,
  type OpenBusHarness,
  openRoom,
} from "./bus/bus-harness.ts";
export { createMemoryCarrier, type MemoryCarrier, type MemoryCarrierOptions } from "./bus/memory-carrier.ts";
export { busContract } from "./bus-contract.ts";
// checker
export { type CheckRun, checkDatabase, checkWhenQuiet, planFindings } from "./checker/check.ts";
export { type Findings, isSound, NOTHING_FOUND } from "./checker/findings.ts";
export { readTables, type Tables } from "./checker/tables.ts";
// crash
export { type CrashRun, type CrashRunOptions, openCrashRun } from "./crash/crash-run.ts";
export { ATTIC_PROJECT, CRASH_PROJECT, SERVED_TARGET } from "./crash/crash-seed.ts";
export {
  CUT_MOMENTS,
  type Cut,
  type CutMoment,
  type DatabaseProxy,
  startDatabaseProxy,
} from "./crash/database-proxy.ts";
export type { ChildConfig } from "./crash/engine-child.ts";
export type { ItemCounts, ItemKind } from "./crash/item.ts";
export { type JournalLine, readJournal } from "./crash/journal.ts";
export { type Killing, type KillingOptions, killAtRandom, killServerAtRandom } from "./crash/kill-at-random.ts";
export { type MortalServer, startMortalServer } from "./crash/mortal-server.ts";
export { createPlannedFaults, type FaultAct, type PlannedFault, type PlannedFaults } from "./crash/planned-faults.ts";
export { type Chance, createChance } from "./crash/random.ts";
export { type EngineChild, startEngineChild } from "./crash/run-child.ts";
export { startWorkload, type Workload, type WorkloadConfig } from "./crash/workload.ts";
export {
  codeOf,
  dispatchAndClaim,
  fingerprint,
  letPass,
  resultFor,
  TEST_ACTOR,
  withClient,
} from "./engine/call-walk.ts";
// engine
export { MEDDLINGS, type Meddling, meddle } from "./engine/meddle.ts";
export {
  DEFAULT_TOOLS,
  ENGINE_TEMPLATE,
  startTestEngine,
  type TestEngine,
  type ToolSeed,
  toolUpload,
} from "./engine/test-engine.ts";
// guarded
export {
  commandOf,
  findDescendants,
  findLeftovers,
  isRunning,
  isThere,
  rememberProcess,
  until,
  untilGone,
} from "./guarded-leftovers.ts";
export { guardProgram, runTestProgram, type TestProgram } from "./guarded-program.ts";
// hosts
export { BAD_HOSTS, type BadHost, badHostCommand } from "./hosts/bad-hosts.ts";
// install
export { ensureProgram, type Installer, type WantedProgram } from "./install-program.ts";
// model server
export { answerByBrain, type BrainLike, type BrainLikeRequest } from "./model-server/answer-by-brain.ts";
export type { Completion, ModelReply, Refusal, ReplyToolCall, StreamTrouble } from "./model-server/model-reply.ts";
export {
  type AnswerModel,
  type ModelRequest,
  type ModelServer,
  startModelServer,
} from "./model-server/model-server.ts";
// nats
export { type NatsOptions, startNats, type TestNats } from "./nats.ts";
export { startNatsCluster, type TestNatsCluster } from "./nats-cluster.ts";
export { createNatsCredentials, type NatsCredentials } from "./nats-credentials.ts";
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
export { makePreviousDatabase, type PreviousDatabase, type PreviousDatabaseOptions } from "./previous-database.ts";
// programs
export { programEnv } from "./program-env.ts";
export { copyTemplate, type DirectoryTemplate } from "./template-directory.ts";
export { createTestCertificates, type TestCertificates } from "./test-certificates.ts";
// wrong services
export { type Habits, RIGHT_HABITS } from "./wrong-services/habits.ts";
export { type PlainService, startPlainService } from "./wrong-services/plain-service.ts";
export type { ServiceConnection } from "./wrong-services/service-client.ts";
export { RIGHT_NATS_SERVICES, WRONG_NATS_SERVICES } from "./wrong-services/wrong-nats-services.ts";
export {
  type NamedService,
  RIGHT_SERVICES,
  WRONG_SERVICES,
  type WrongService,
} from "./wrong-services/wrong-services.ts";
