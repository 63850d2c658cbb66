// The public face of @toolplane/testkit: named exports only, one block per noun.

// api
export { type Answer, type AnswerBody, askApi, readAnswer } from "./api/answer.ts";
// bus
export {
  type CarrierHarness,
  createCollector,
  createLatch,
  eventually,
  type LogHarness,
} from "./bus/bus-harness.ts";
export { createMemoryCarrier, type MemoryCarrier } from "./bus/memory-carrier.ts";
export { carrierBusContract, logBusContract } from "./bus-contract.ts";
// checker
export { checkDatabase, checkWhenQuiet, planFindings } from "./checker/check.ts";
export { type Findings, isSound, NOTHING_FOUND } from "./checker/findings.ts";
export { readTables, type Tables } from "./checker/tables.ts";
// crash
export { type CrashRun, openCrashRun } from "./crash/crash-run.ts";
export { CRASH_PROJECT, SERVED_TARGET } from "./crash/crash-seed.ts";
export {
  CUT_MOMENTS,
  type CutMoment,
  type DatabaseProxy,
  startDatabaseProxy,
} from "./crash/database-proxy.ts";
export type { ItemCounts } from "./crash/item.ts";
export { type JournalLine, openJournal, readJournal } from "./crash/journal.ts";
export { killAtRandom, killServerAtRandom } from "./crash/kill-at-random.ts";
export { startMortalServer } from "./crash/mortal-server.ts";
export { createPlannedFaults, type PlannedFault } from "./crash/planned-faults.ts";
export { type Chance, createChance } from "./crash/random.ts";
export { startEngineChild } from "./crash/run-child.ts";
export { verifyHistories } from "./crash/verify-histories.ts";
export { startWorkload } from "./crash/workload.ts";
export { loadEarlierData } from "./earlier-data.ts";
// engine
export { appendMessages } from "./engine/append-messages.ts";
export {
  codeOf,
  dispatchAndClaim,
  fingerprint,
  letPass,
  resultFor,
  TEST_ACTOR,
  withClient,
} from "./engine/call-walk.ts";
export { countStatements } from "./engine/count-statements.ts";
export { MEDDLINGS, meddle } from "./engine/meddle.ts";
export { createMeeting } from "./engine/meeting.ts";
export { createStandingClock } from "./engine/standing-clock.ts";
export {
  ENGINE_TEMPLATE,
  startTestEngine,
  type TestEngine,
  type ToolSeed,
  toolUpload,
} from "./engine/test-engine.ts";
export { watchService } from "./engine/watch-service.ts";
export { weighAnswers } from "./engine/weigh-answers.ts";
// guarded
export {
  commandOf,
  findDescendants,
  findLeftovers,
  findLeftoversSince,
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
export { ensureProgram } from "./install-program.ts";
// model server
export { answerByBrain } from "./model-server/answer-by-brain.ts";
export type { ModelReply } from "./model-server/model-reply.ts";
export {
  type ModelServer,
  startModelServer,
} from "./model-server/model-server.ts";
// nats
export { type NatsOptions, startNats, type TestNats } from "./nats.ts";
export { startNatsCluster, type TestNatsCluster } from "./nats-cluster.ts";
export { createNatsCredentials } from "./nats-credentials.ts";
// postgres
export {
  findDebianPostgres,
  startDebianPostgres,
  startTestPostgres,
  type TestPostgres,
  withPostgres,
} from "./postgres.ts";
export { queryTestDatabase, type TestRow, withTestClient } from "./postgres-client.ts";
export { createTestDatabase, type TestDatabase } from "./postgres-database.ts";
export { sharedPostgres } from "./postgres-run.ts";
export { makePreviousDatabase } from "./previous-database.ts";
// programs
export { programArgv, tryFindCompiled } from "./program-argv.ts";
export { programEnv } from "./program-env.ts";
export { copyTemplate } from "./template-directory.ts";
export { createTestCertificates } from "./test-certificates.ts";
export { makeTestDirectory, type TestDirectory } from "./test-directory.ts";
export { watchOutput } from "./watch-output.ts";
// wrong services
export { RIGHT_HABITS } from "./wrong-services/habits.ts";
export { startPlainService } from "./wrong-services/plain-service.ts";
export { RIGHT_NATS_SERVICES, WRONG_NATS_SERVICES } from "./wrong-services/wrong-nats-services.ts";
export {
  type NamedService,
  RIGHT_SERVICES,
  WRONG_SERVICES,
} from "./wrong-services/wrong-services.ts";
