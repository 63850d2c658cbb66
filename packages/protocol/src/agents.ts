// @toolplane/protocol/agents: what only turns need - events, streams, transcripts, deliverables, replay - and what a server needs
// to judge a report: its check, the parts of a body, and the words about what is wrong with it.

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
  type ModelMessage,
  projectCards,
  type ToolMessage,
} from "./cards/projection.ts";
export {
  createMustEndWithCard,
  createProfileCard,
  createRenderedPromptCard,
  createToolsCard,
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
} from "./cards/task-cards.ts";
export {
  checkDepth,
  DEFAULT_MAX_RECURSION_DEPTH,
  type DepthPolicy,
  planDepth,
} from "./context/spawn.ts";
export {
  withChildSpan,
  withTraceTransport,
} from "./context/transport-evolve.ts";
export { withoutTypeBounds } from "./errors/schema-issue.ts";
export { checkCallIdentity, checkCallTrace, checkServicePlace } from "./headers/call-identity.ts";
export { type CallerIdentity, checkCallerIdentity, saidDepthError } from "./headers/caller-identity.ts";
export { replay } from "./headers/replay.ts";
export { keepAll } from "./json/exact-json.ts";
export { sliceList, sliceObject } from "./json/json-slices.ts";
export { refuseChangedIntegers } from "./json/kept-integers.ts";
export { findExcess } from "./json/parse-json.ts";
export { UnreadableJson } from "./json/unreadable-json.ts";
export {
  type CallPhase,
  type MarkerEvent,
  parseTaskEvent,
  type StateEvent,
  type StepEvent,
  type StepPhase,
  type TaskEvent,
} from "./payloads/agent-events.ts";
export {
  type ChunkInput,
  encodeChunk,
  type Part,
} from "./payloads/agent-stream.ts";
export { checkLeasePayload } from "./payloads/command.ts";
export {
  mergeActionMetadata,
  UI_ACK_STATUSES,
  type UiAckStatus,
  type UiActionAck,
} from "./payloads/ui-action.ts";
export { aggregateStep, taskErrorText } from "./results/after-execution.ts";
export {
  type ExpectedCall,
  planReportCheck,
} from "./results/report-check.ts";
export { tryStandingResult } from "./results/standing-result.ts";
export {
  CONSUMER_DEFAULTS,
  pmoCommandSubscription,
  type StandingSubscription,
  type StreamCategory,
  streamPlan,
  taskEventSubscription,
  toolCommandSubscription,
  tryToolCommandSubscription,
  uiActionSubscription,
  workerWakeupSubscription,
} from "./subjects/streams.ts";
export { type ModelToolSpec, modelToolSpec, submitResultSpec } from "./tools/model-spec.ts";
export { READ_CARD } from "./tools/tool-name.ts";
