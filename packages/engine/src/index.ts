// The public face of @toolplane/engine: named exports only, in the order of their files.

export type { Decision, WaitingCall } from "./approvals/approvals.ts";
export type { Actor, AuditEntry } from "./audit/audit.ts";
export {
  type BatchTaskAsk,
  type BatchView,
  batchIdOf,
  batchTaskIdOf,
  PMO_ACTOR,
} from "./batches/batch.ts";
export type { ListedBatch } from "./batches/batch-reads.ts";
export type { Batches } from "./batches/batches.ts";
export { batchHolder } from "./batches/open-batch.ts";
export { createAlarm } from "./bus/alarm.ts";
export {
  type CallFacts,
  type CallKey,
  type CallStatus,
  type CallView,
  isSettled,
} from "./calls/call.ts";
export type { CallAnswer } from "./calls/call-answer.ts";
export type { CallLease } from "./calls/call-leases.ts";
export type { CallRequest } from "./calls/call-request.ts";
export { MAX_CANCELED } from "./calls/cancel-waiting.ts";
export { CLAIM_BYTES } from "./calls/lease.sql.ts";
export type { HeldCall } from "./calls/park.ts";
export type { QueuePlace } from "./calls/queue-place.ts";
export type { SeenService } from "./calls/seen-services.ts";
export type { Settled } from "./calls/settle.ts";
export type { LeasedCall } from "./calls/take-calls.ts";
export type { JudgeCommand } from "./carrier/carriage.ts";
export type { Carrier } from "./carrier/carrier.ts";
export { createCoalescer } from "./coalescer/coalescer.ts";
export { readInPieces } from "./coalescer/in-pieces.ts";
export { createRota, type Rota } from "./coalescer/rota.ts";
export { roughBytes } from "./coalescer/rough-bytes.ts";
export type { DeadLetter } from "./dead-letters/dead-letters.ts";
export type {
  AgentWrite,
  DelegatedTurn,
  Parties,
  Party,
} from "./delegation/delegation.ts";
export { createEngine, type Engine, type EngineOptions, type ServingAgents } from "./engine.ts";
export type { HeldBack } from "./gates/gates.ts";
export type { LimitState } from "./gates/limit-reads.ts";
export { notThere } from "./history/tombstones.ts";
export type { ExecutionEdgeRow, HeadStateRow, IdentityEdgeRow, StepStateRow } from "./lineage/lineage.ts";
export type { BegunSession, BrowserSession } from "./logins/logins.ts";
export type { WaitingCommand } from "./outbox/waiting-command.ts";
export { OWNED_KINDS, type OwnedKind } from "./ownership/ownership.ts";
export type { CallChange, CallNews, CallObserver } from "./ports/call-observer.ts";
export { type Clock, inTime, LATE, systemClock, WAIT_OVER } from "./ports/clock.ts";
export { createIds, derivedUuid, type Ids, sha256 } from "./ports/ids.ts";
export { type Log, type LogFields, silentLog } from "./ports/log.ts";
export { createRecent } from "./recent/recent.ts";
export type { Agents } from "./registry/agents.ts";
export type { CompiledDefinition } from "./registry/definition-cache.ts";
export { createSchemaCompiler } from "./registry/json-schema.ts";
export { cursorOf, keyOfCursor } from "./registry/page.ts";
export type { ToolUpsertResult } from "./registry/plan-tools.ts";
export type { Profiles } from "./registry/profiles.ts";
export type { RegisteredProject } from "./registry/projects.ts";
export type { ToolName } from "./registry/tool-outlines.ts";
export type { PendingVersion, RegisteredTool } from "./registry/tool-view.ts";
export { noTool } from "./registry/tools.ts";
export type { RetentionPolicy } from "./retention/retention.ts";
export type { TargetKey } from "./sessions/session-targets.ts";
export type { Queryer } from "./sql/database.ts";
export { isAway } from "./sql/database-error.ts";
export type { PlaneDepths } from "./stats/plane-depths.ts";
export type { ToolUsage } from "./stats/tool-usage.ts";
export { createFairLine } from "./threads/fair-line.ts";
export { createThreads, type Threads } from "./threads/threads.ts";
export { actorOfToken, isTokenActor } from "./tokens/token-actor.ts";
export type { TokenWatch } from "./tokens/token-ends.ts";
export { ROLES, type Role, type Token, type Tokens } from "./tokens/tokens.ts";
export type { Trace } from "./traces/traces.ts";
export type { PoolServer } from "./turns/agent-bells.ts";
export type { ListedBoxes, LongCard, LongReading, TurnBoxes, TurnBoxesAsk } from "./turns/listed-boxes.ts";
export type {
  Advanced,
  AgentKey,
  AskedTurn,
  CommittedStep,
  SpawnedTurn,
  StepCommit,
  StepEntry,
  StepView,
  TurnFinish,
  Turns,
  TurnView,
  Work,
} from "./turns/turn.ts";
export { stepIdOf } from "./turns/turn.ts";
export { BOX_TAIL, fillBoxes, longIn } from "./turns/turn-boxes.ts";
export { uiOutcome } from "./turns/ui-ack.ts";
export type { LineUnderWay } from "./webhooks/deliveries.sql.ts";
export { ENDS_OF_CALL, WEBHOOK_EVENTS } from "./webhooks/plan-delivery.ts";
export type { ClaimedDelivery, Delivery, DeliveryOutcome, EventReader, Webhook } from "./webhooks/webhooks.ts";
