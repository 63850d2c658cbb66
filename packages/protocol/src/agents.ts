// @toolplane/protocol/agents: what only turns need - events, streams, transcripts, deliverables, replay - and the check of a report.

export {
  createFallbackDeliverable,
  FALLBACK_SOURCES,
  type FallbackInput,
  type FallbackSource,
  TERMINATED_HEADLINE,
  terminatedReason,
} from "./cards/fallback-deliverable.ts";
export {
  type AssistantMessage,
  MAX_STREAM_CHARS,
  type ModelMessage,
  type Projection,
  type ProjectionOptions,
  projectCards,
  type TextMessage,
  type ToolMessage,
  toolResultBody,
} from "./cards/projection.ts";
export {
  createMustEndWithCard,
  createProfileCard,
  createRenderedPromptCard,
  createToolsCard,
  type ProfileCardInput,
  type SystemCardOrigin,
} from "./cards/system-cards.ts";
export {
  createAgentErrorCard,
  createDeliverableCard,
  createInstructionCard,
  createParentPointerCard,
  createResultFieldsCard,
  createThoughtCard,
  type DeliverableCardInput,
  type ResultField,
  type ThoughtCardInput,
} from "./cards/task-cards.ts";
export {
  checkDepth,
  DEFAULT_MAX_RECURSION_DEPTH,
  DEPTH_POLICIES,
  type DepthPolicy,
  planDepth,
} from "./context/spawn.ts";
export {
  type NormalizedTransport,
  type TraceTransport,
  traceparentOf,
  withChildSpan,
  withNormalizedTransport,
  withTraceTransport,
} from "./context/transport-evolve.ts";
export { type CallIdentity, checkCallIdentity, checkCallTrace } from "./headers/call-identity.ts";
export { type CallerIdentity, checkCallerIdentity } from "./headers/caller-identity.ts";
export { mandatoryHeaders, missingHeaders, requireHeaders } from "./headers/mandatory.ts";
export { type InboxRow, type Replay, replay, STORED_HEADERS } from "./headers/replay.ts";
export {
  AGENT_STATUSES,
  type MarkerEvent,
  parseTaskEvent,
  STEP_PHASES,
  type StateEvent,
  type StepEvent,
  type StepPhase,
  stateEventSchema,
  stepEventSchema,
  type TaskEvent,
  taskEventSchema,
} from "./payloads/agent-events.ts";
export {
  CHUNK_TYPES,
  type ChunkInput,
  chunkSchema,
  encodeChunk,
  type Part,
} from "./payloads/agent-stream.ts";
export { checkLeasePayload } from "./payloads/command.ts";
export {
  mergeActionMetadata,
  UI_ACK_STATUSES,
  type UiAckStatus,
  type UiActionAck,
  type UiActionPayload,
  uiActionAckSchema,
  uiActionSchema,
} from "./payloads/ui-action.ts";
export { aggregateStep, effectiveAfterExecution, type StepVerdict, taskErrorText } from "./results/after-execution.ts";
export {
  type ExpectedCall,
  planReportCheck,
  type Report,
  type ReportVerdict,
  WATCHDOG_ACTOR,
} from "./results/report-check.ts";
export { tryStandingResult } from "./results/standing-result.ts";
export {
  CONSUMER_DEFAULTS,
  pmoCommandSubscription,
  type StandingSubscription,
  type StreamCategory,
  type StreamPlan,
  streamPlan,
  taskEventSubscription,
  toolCommandSubscription,
  tryToolCommandSubscription,
  uiActionSubscription,
  workerWakeupSubscription,
} from "./subjects/streams.ts";
export { type ModelToolSpec, modelToolSpec, submitResultSpec } from "./tools/model-spec.ts";
export { READ_CARD } from "./tools/tool-name.ts";
