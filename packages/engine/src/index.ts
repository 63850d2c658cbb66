// The public face of @toolplane/engine: named exports only, one block per noun.

// approvals
export type { Approvals, DecideRequest, Decision, Verdict, WaitingCall } from "./approvals/approvals.ts";
// audit
export { ACTS, type ActName, type Actor, type Audit, type AuditEntry, type Door } from "./audit/audit.ts";
// batches
export {
  BATCH_MANAGER,
  type BatchKey,
  type BatchStatus,
  type BatchTaskAsk,
  type BatchTaskView,
  type BatchView,
  batchIdOf,
  batchTaskIdOf,
  type NewBatch,
  PMO_ACTOR,
  type TaskStatus,
} from "./batches/batch.ts";
export { type Batches, type BatchesDeps, type BatchSweep, createBatches } from "./batches/batches.ts";
export { batchHolder } from "./batches/open-batch.ts";
export type { EventLog, LoggedEvent } from "./bus/event-log.ts";
// bus
export { type TrimMessagesOptions, type TrimmedMessages, trimMessages } from "./bus/message-retention.ts";
export { createPostgresBus, LOOK_AGAIN_MS, type PostgresBusOptions } from "./bus/postgres-bus.ts";
export {
  type BusDoorbell,
  createPostgresDoorbell,
  type DoorbellStats,
  type RingKind,
} from "./bus/postgres-doorbell.ts";
// calls
export {
  type CallFacts,
  type CallKey,
  type CallStatus,
  type CallView,
  callKey,
  isSettled,
  type Lineage,
  type LiveStatus,
} from "./calls/call.ts";
export type { CallRequest, Dispatched } from "./calls/call-request.ts";
export type { CallFilter, Calls } from "./calls/calls.ts";
export type { Canceled, CancelRequest } from "./calls/cancel.ts";
export type { ClaimAcrossRequest } from "./calls/claim-across.ts";
export type { Beat, ClaimRequest, Held, LeasedCall, LeaseRequest } from "./calls/leases.ts";
export { type HeldCall, holdCall, type ParkRequest, parkCall } from "./calls/park.ts";
export type { CallAsk, CallOrigin } from "./calls/plan-call.ts";
export type { GivenResult, WrittenResult } from "./calls/plan-settlement.ts";
export type { PutResultCard, ReportRequest } from "./calls/reports.ts";
export type { Settled, SettleRequest } from "./calls/settle.ts";
export { type ChainLink, chainStart, extendChain, type Sha256 } from "./calls/turn-chain.ts";
// cards and boxes
export type { Box, BoxBatch, Boxes, HydratedBox } from "./cards/boxes.ts";
export type { CardBatch, CardRef, CardStore, CardVerdict } from "./cards/card-store.ts";
export type { Carried, JudgeCommand } from "./carrier/carriage.ts";
export type { Carrier, CarrierMeans } from "./carrier/carrier.ts";
export type { ServedTarget } from "./carrier/plan-durables.ts";
export { readInTurns } from "./coalescer/in-turns.ts";
// dead letters, watchdog, retention
export type { DeadLetter, DeadLetters } from "./dead-letters/dead-letters.ts";
// delegation
export {
  type AgentWrite,
  createDelegation,
  type DelegatedTurn,
  type Delegation,
  type NamedProfile,
  type Parties,
  type PartiesAsked,
  type Party,
  type PartyBoxes,
} from "./delegation/delegation.ts";
// engine
export {
  createEngine,
  type Engine,
  type EngineOptions,
  type EngineStats,
  type ServingAgents,
  sha256,
} from "./engine.ts";
// outbox
export { appendMessages } from "./outbox/append-messages.ts";
export { type Relay, type RelayOptions, type RelayStats, relayOutbox } from "./outbox/relay-outbox.ts";
export {
  type CarriedBy,
  type StuckMessages,
  type StuckOptions,
  stuckMessages,
  whyStuck,
} from "./outbox/stuck-messages.ts";
export { OWNED_KINDS, type OwnedKind, type Owner, type Ownership } from "./ownership/ownership.ts";
// ports
export type { CallChange, CallObserver } from "./ports/call-observer.ts";
export { type Clock, systemClock } from "./ports/clock.ts";
export { DOORBELL_KINDS, type Doorbell, type DoorbellKind, type RingOrigin } from "./ports/doorbell.ts";
export {
  BATCH_FAULT_POINTS,
  CARRIER_FAULT_POINTS,
  FAULT_POINTS,
  type FaultPoint,
  type Faults,
  noFaults,
  TURN_FAULT_POINTS,
} from "./ports/faults.ts";
export { createIds, derivedUuid, type Ids, oldestUuidOf } from "./ports/ids.ts";
export { type Log, type LogFields, silentLog } from "./ports/log.ts";
// ownership
export type { AgentProfiles } from "./registry/agent-profiles.ts";
// registry
export type { Agents } from "./registry/agents.ts";
export { type CompiledDefinition, createDefinitions, type Definitions } from "./registry/definition-cache.ts";
export { createSchemaCompiler } from "./registry/json-schema.ts";
export type { ToolUpsertResult } from "./registry/plan-tools.ts";
export type { Profiles } from "./registry/profiles.ts";
export type { Projects, RegisteredProject } from "./registry/projects.ts";
export { createSchemaChecks, type SchemaChecks } from "./registry/schema-checks.ts";
export type { PendingVersion, RegisteredTool, ToolVersion } from "./registry/tool-view.ts";
export type { Tools } from "./registry/tools.ts";
export type { Forgotten, RetentionPolicy } from "./retention/retention.ts";
// storage
export { createDatabase, type Database, type Queryer, type Statement } from "./sql/database.ts";
export { migrate, readMigrations } from "./sql/migrate.ts";
// threads
export { createThreads, type ThreadStats, type Threads, type ThreadTask } from "./threads/threads.ts";
// tokens
export type { TokenWatch } from "./tokens/token-ends.ts";
export { ROLES, type Role, type Token, type TokenRequest, type Tokens } from "./tokens/tokens.ts";
export type { AgentBells, Place, PoolServer, RungAgent } from "./turns/agent-bells.ts";
export type { Tended, TendTurns } from "./turns/tend-turns.ts";
// turns
export type {
  Advanced,
  AdvanceRequest,
  AgentKey,
  CommittedCall,
  CommittedStep,
  Deliverable,
  ListTurnsRequest,
  SpawnedTurn,
  SpawnLineage,
  SpawnRequest,
  StepCommit,
  StepEntry,
  StepView,
  Stopped,
  StopRequest,
  TurnBoxes,
  TurnBoxesAsk,
  TurnContext,
  TurnEnd,
  TurnFinish,
  TurnKey,
  TurnKind,
  TurnStatus,
  Turns,
  TurnView,
  Work,
} from "./turns/turn.ts";
export { stepIdOf } from "./turns/turn.ts";
export type { TurnsOptions } from "./turns/turns.ts";
export { uiEndStatus } from "./turns/ui-ack.ts";
export type { Sweep } from "./watchdog/expire.ts";
