// The public face of @toolplane/protocol: named exports only, one block per noun.

export { type Box, boxSchema, parseBox } from "./cards/box.ts";
export {
  type Card,
  cardHash,
  cardSchema,
  cardText,
  checkConventions,
  parseCard,
  parseWritableCard,
} from "./cards/card.ts";
export {
  type CardDto,
  parseCardDto,
  toCardDto,
  toolsAsJson,
} from "./cards/card-dto.ts";
export {
  distinctIds,
  orderAsRequested,
} from "./cards/card-order.ts";
export type { CardOrigin } from "./cards/card-origin.ts";
export {
  CARD_AUTHORS,
  CARD_CONVENTIONS,
  CARD_TYPES,
  type CardConvention,
  isKnownCardType,
  type KnownCardType,
} from "./cards/card-types.ts";
export { type CardFingerprint, type CardWritePlan, planCardWrite } from "./cards/card-write.ts";
export {
  type CardContent,
  type ContentType,
  contentSchema,
  type FieldsSchemaContent,
  fieldsSchemaContentSchema,
  type JsonContent,
  jsonContent,
  jsonContentSchema,
  type TextContent,
  type ToolCallContent,
  type ToolContent,
  type ToolResultContent,
  textContent,
  textContentSchema,
  toolCallContentSchema,
  toolContentSchema,
  toolResultContentSchema,
} from "./cards/content.ts";
export {
  createFallbackDeliverable,
  FALLBACK_SOURCES,
  type FallbackInput,
  type FallbackSource,
  TERMINATED_HEADLINE,
  terminatedReason,
} from "./cards/fallback-deliverable.ts";
export {
  copyLineage,
  LINEAGE_KEYS,
  type Lineage,
  type LineageKey,
  lineageDifference,
} from "./cards/lineage.ts";
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
  foldCard,
  type StoredCard,
  type StoredCardRow,
  unfoldCard,
} from "./cards/storage-view.ts";
export {
  createJudgeFeedbackCard,
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
  createTaskContextCard,
  createThoughtCard,
  type DeliverableCardInput,
  type ResultField,
  type ThoughtCardInput,
} from "./cards/task-cards.ts";
export {
  createToolCallCard,
  createToolResultCard,
  type ToolCallCardInput,
  type ToolResultCardInput,
} from "./cards/tool-cards.ts";
// subjects, headers, context, trace
export {
  type CGContext,
  type ContextFields,
  type ContextPatch,
  createContext,
  evolveContext,
} from "./context/context.ts";
export {
  asActor,
  type RestoredState,
  withNewStep,
  withRecursionDepth,
  withRestoredState,
  withToolCall,
  withTurn,
  withTurnEpoch,
} from "./context/evolve.ts";
export { type LineageMeta, lineageMeta, withLineageMeta } from "./context/lineage.ts";
export {
  contextSubject,
  type HeadTurn,
  type MessageSource,
  matchesHead,
  matchesHeadOrNewer,
  messageSource,
  renderSubjectTemplate,
  requireParentStep,
  requireStep,
  requireToolCall,
  requireTurn,
  type SubjectParts,
} from "./context/queries.ts";
export {
  checkDepth,
  DEFAULT_MAX_RECURSION_DEPTH,
  DEPTH_POLICIES,
  type DepthPolicy,
  planDepth,
  type SpawnTarget,
  spawnContext,
} from "./context/spawn.ts";
export {
  contextFromSystemDict,
  type SystemDict,
  systemDict,
  type TelemetryAttributes,
  telemetryAttributes,
} from "./context/system-dict.ts";
export {
  type NormalizedTransport,
  type TraceTransport,
  type TransportPatch,
  traceparentOf,
  withChildSpan,
  withFreshTrace,
  withNormalizedTransport,
  withTraceTransport,
  withTransport,
} from "./context/transport-evolve.ts";
export { errorReferenceMarkdown } from "./errors/error-reference.ts";
// errors
export {
  ERROR_CODES,
  ERROR_TABLE,
  type ErrorCode,
  type ErrorEntry,
  isErrorCode,
  type RetryAdvice,
} from "./errors/error-table.ts";
export { parseWith } from "./errors/parse-with.ts";
export {
  type ErrorDetail,
  isToolplaneError,
  ToolplaneError,
  type ToolplaneErrorOptions,
  UsageError,
  violation,
  type WireError,
} from "./errors/toolplane-error.ts";
export {
  type UnderstandOptions,
  understandError,
} from "./errors/understand-error.ts";
export {
  CONTROL_FIELDS,
  controlFieldsOf,
  headerLikeKeys,
  type Payload,
  RESUME_CONTROL_FIELDS,
  refuseControlFields,
  stripControlFields,
} from "./headers/control-fields.ts";
export { type EgressMode, egress } from "./headers/egress.ts";
export {
  fillMissingHeaders,
  type HeaderMap,
  isHeaderText,
  normalizeHeaders,
  type RawHeaders,
} from "./headers/header-map.ts";
export {
  canonicalHeaderName,
  HEADER_NAMES,
  HEADERS,
  type HeaderName,
  STAMP_HEADERS,
  TOPOLOGY_HEADERS,
} from "./headers/header-names.ts";
export { type HttpHeaders, headersFromHttp, httpHeader } from "./headers/http-headers.ts";
export { type InboundMessage, type Ingress, type IngressOptions, ingress } from "./headers/ingress.ts";
export { mandatoryHeaders, missingHeaders, requireHeaders } from "./headers/mandatory.ts";
export {
  contextFromHead,
  type HeadRow,
  type InboxRow,
  type Replay,
  replay,
  STORED_HEADERS,
} from "./headers/replay.ts";
export { DEFAULT_SENDER, ensureTraceHeader, messageTypeOf, type Stamps, stampHeaders } from "./headers/stamps.ts";
export {
  encodeHostEvent,
  encodeHostFailure,
  encodeHostRequest,
  encodeHostSuccess,
} from "./host/host-encode.ts";
export {
  agreedExtensions,
  HOST_EXTENSIONS,
  type HostExtension,
  type HostLog,
  LOG_LEVELS,
  type LogLevel,
  readHostLog,
} from "./host/host-extensions.ts";
export {
  HOST_ERROR_TYPES,
  HOST_PROTOCOL_VERSION,
  type HostError,
  type HostEvent,
  type HostFailure,
  type HostMessage,
  type HostRequest,
  type HostResponse,
  type HostSuccess,
  parseHostLine,
  tryParseHostLine,
} from "./host/host-message.ts";
export {
  carriesState,
  HOST_PARAMS,
  type HostMethod,
  type HostParams,
  isHostMethod,
  methodNotFound,
  OPTIONAL_HOST_METHODS,
  parseHostParams,
  REQUIRED_HOST_METHODS,
} from "./host/host-methods.ts";
export {
  type FormattedResult,
  HOST_VALUES,
  initialState,
  isNotOffered,
  type PlainHostMethod,
  type PlainHostValue,
  PROVIDER_NATIVE_FORMATS,
  PROVIDER_NATIVE_TYPE,
  type ProviderNativeFormat,
  parseHostValue,
  parseToolOutcome,
  readFormattedResult,
  type ToolOutcome,
} from "./host/host-values.ts";
export {
  type HostTool,
  type HostTools,
  type RefusedHostTool,
  readHostTool,
  readHostTools,
} from "./host/tool-schemas.ts";
// json, cards, payloads, results, host
export { canonicalText } from "./json/canonical-text.ts";
export { copyJson } from "./json/json-copy.ts";
export {
  formatJsonPath,
  type JsonPathSegment,
} from "./json/json-path.ts";
export {
  exceedsBytes,
  isFilled,
  isRecord,
  type JsonCaps,
  type JsonObject,
  type JsonPrimitive,
  type JsonValue,
  MAX_JSON_BYTES,
  MAX_JSON_DEPTH,
  utf8Bytes,
} from "./json/json-value.ts";
export {
  parseJsonStrict,
  tryParseJsonStrict,
} from "./json/parse-json.ts";
export {
  type AdaptedMessage,
  adaptLegacyMessage,
  isLegacySubject,
  LEGACY_VERSION,
  type LegacyMessage,
  liftIdentity,
} from "./legacy/v1r3.ts";
export {
  AGENT_STATUSES,
  type AgentStatus,
  type InboxProgressEvent,
  inboxProgressSchema,
  type MarkerEvent,
  markerSchema,
  parseInboxProgress,
  parseMarker,
  parseStateEvent,
  parseStepEvent,
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
  type Chunk,
  type ChunkInput,
  type ChunkType,
  chunkSchema,
  encodeChunk,
  type Part,
  parseChunk,
  parsePart,
  partSchema,
} from "./payloads/agent-stream.ts";
export {
  type CallbackPayload,
  type CallbackPolicy,
  parseCallbackPayload,
} from "./payloads/callback.ts";
export {
  type CommandPayload,
  type CommandPolicy,
  parseCommandPayload,
  UNKNOWN_TOOL_NAME,
} from "./payloads/command.ts";
export {
  mergeActionMetadata,
  parseUiAction,
  parseUiActionAck,
  UI_ACK_STATUSES,
  type UiAckStatus,
  type UiActionAck,
  type UiActionPayload,
  uiActionAckSchema,
  uiActionSchema,
} from "./payloads/ui-action.ts";
export {
  parseWakeup,
  WAKEUP_REASONS,
  type WakeupPayload,
  type WakeupReason,
  wakeupSchema,
} from "./payloads/wakeup.ts";
export {
  aggregateStep,
  effectiveAfterExecution,
  type StepVerdict,
  taskErrorText,
} from "./results/after-execution.ts";
export {
  CONTROL_KEY,
  CONTROL_PREFIX,
  readOverride,
  type StrippedBody,
  stripControl,
  writeOverride,
} from "./results/control.ts";
export {
  DEFAULT_ERROR_CODE,
  type ErrorEnvelope,
  type ErrorSource,
  envelopeOf,
  errorResult,
  type NormaliseErrorOptions,
  normaliseError,
  UNKNOWN_ERROR,
  withAdvice,
} from "./results/error-envelope.ts";
export {
  normaliseResult,
  type ResultInput,
} from "./results/normalise-result.ts";
export {
  type ExpectedCall,
  planReportCheck,
  type Report,
  type ReportVerdict,
  WATCHDOG_ACTOR,
} from "./results/report-check.ts";
export {
  type BuiltResult,
  buildFailure,
  buildResult,
  type ResultContext,
  type ResultOutcome,
} from "./results/result-builder.ts";
export {
  type CardLookup,
  type ReadFault,
  type ReadOutcome,
  readResult,
} from "./results/result-reader.ts";
export {
  buildValidationFailure,
  type FailureIdentity,
  planFailureIdentity,
  type ValidationFailureInput,
} from "./results/validation-failure.ts";
export {
  AFTER_EXECUTIONS,
  type AfterExecution,
  coerceStatus,
  DEFAULT_AFTER_EXECUTION,
  isAfterExecution,
  isResultStatus,
  RESULT_STATUSES,
  type ResultStatus,
} from "./results/value-sets.ts";
export {
  chunkStreamSubject,
  familyOf,
  GATEWAY_OPERATIONS,
  type GatewayOperation,
  gatewaySubject,
  inboxProgressSubject,
  judgeRetrySubject,
  partStreamSubject,
  pmoCommandSubject,
  type SubjectFamily,
  type SubjectScope,
  stateEventSubject,
  stepEventSubject,
  taskEventSubject,
  toolCommandSubject,
  uiActionAckSubject,
  uiActionSubject,
  uiMarkerSubject,
  wakeupSubject,
} from "./subjects/families.ts";
export {
  createPattern,
  matchesPattern,
  type PatternParts,
  parsePattern,
  type SubjectPattern,
  tryParsePattern,
} from "./subjects/pattern.ts";
export {
  CONSUMER_DEFAULTS,
  durableName,
  pmoCommandSubscription,
  type StandingSubscription,
  type StreamCategory,
  type StreamPlan,
  streamPlan,
  taskEventSubscription,
  toolCommandSubscription,
  uiActionSubscription,
  uiWakeupSubscription,
  workerWakeupSubscription,
} from "./subjects/streams.ts";
export {
  CATEGORIES,
  type Category,
  COMPONENTS,
  type Component,
  DEFAULT_CHANNEL,
  formatSubject,
  MAX_SUBJECT_LENGTH,
  PROTOCOL_VERSION,
  parseSubject,
  type Subject,
  tryParseSubject,
} from "./subjects/subject.ts";
export {
  expandSubjectTemplate,
  parseToolTarget,
  type TemplateIds,
  type ToolTarget,
} from "./subjects/target-template.ts";
export {
  actorOfToken,
  actorToken,
  durableLabel,
  isToken,
  isTrustedActor,
  parseToken,
  singleInstanceTarget,
  streamToken,
} from "./subjects/token.ts";
export {
  childTraceparent,
  createTraceparent,
  ensureTraceparent,
  formatTraceparent,
  parseTraceId,
  parseTraceparent,
  type TraceIds,
  type Traceparent,
  tryParseTraceparent,
} from "./trace/traceparent.ts";

// tools and registry

export { type BootstrapOptions, bootstrapTools, FORK_JOIN_DEADLINE_SECONDS } from "./registry/bootstrap-tools.ts";
export {
  type BoxInheritanceInput,
  type DelegationInput,
  type GuardDecision,
  planBoxInheritance,
  planDelegation,
  policyAllows,
} from "./registry/delegation.ts";
export {
  type DelegationPolicy,
  delegationPolicySchema,
  llmConfigSchema,
  mayUseTool,
  type Profile,
  parseProfile,
  parseProfileCard,
  profileKey,
} from "./registry/profile.ts";
export {
  findProfile,
  type ProfileRow,
  type ProfileUpsertInput,
  type ProfileUpsertPlan,
  planProfileUpsert,
  profileRowSchema,
} from "./registry/profile-row.ts";
export {
  acceptsWork,
  PROJECT_STATUSES,
  type Project,
  type ProjectCreate,
  type ProjectOrigin,
  type ProjectPatch,
  type ProjectStatus,
  parseProjectCreate,
  parseProjectPatch,
  planProjectCreate,
  planProjectPatch,
  projectSchema,
} from "./registry/project.ts";
export {
  type AgentUpload,
  type GuardedField,
  parseAgentUpload,
  planDeactivation,
  planRosterUpsert,
  ROSTER_STATUSES,
  type RosterAgent,
  type RosterEntry,
  type RosterPlan,
  type RosterStatus,
  rosterAgentSchema,
} from "./registry/roster.ts";
export { type SessionOwner, sessionKey } from "./registry/session-key.ts";
export {
  planToolUpsert,
  type SourcedDefinition,
  type StoredTool,
  type ToolUpsertPlan,
} from "./registry/tool-upsert.ts";
export { type AfterExecutionPlan, planAfterExecution } from "./tools/after-execution.ts";
export { type ToolDefinition, toolDefinitionSchema } from "./tools/definition.ts";
export {
  definitionHash,
  definitionText,
  diffDefinitions,
  HASHED_FIELDS,
  type HashText,
} from "./tools/definition-hash.ts";
export { type AllowEnv, isEnvName, isOwnEnvName } from "./tools/env-name.ts";
export { foldName } from "./tools/fold-name.ts";
export { codePointName, findHiddenCharacter, type HiddenCharacter } from "./tools/hidden-characters.ts";
export { type ModelToolSpec, modelToolSpec, submitResultSpec } from "./tools/model-spec.ts";
export {
  DEFAULT_APPROVAL_SECONDS,
  DEFAULT_QUEUE_TIMEOUT_SECONDS,
  DEFAULT_TIMEOUT_SECONDS,
  type ResolvedToolOptions,
  resolveOptions,
  type ToolOptions,
  toolOptionsSchema,
} from "./tools/options.ts";
export type { CompileSchema, SchemaIssue, ValidateValue } from "./tools/parameters-schema.ts";
export {
  argumentsSchema,
  compileArguments,
  type ParseToolDefinitionOptions,
  parseToolDefinition,
} from "./tools/parse-definition.ts";
export {
  type ArgumentsMetadata,
  type ArgumentsPlan,
  type PlanArgumentsInput,
  planArguments,
} from "./tools/plan-arguments.ts";
export { parseRawArguments, rawArgumentsHash } from "./tools/raw-arguments.ts";
export { type SchemaPath, type SchemaVisitor, walkSchema } from "./tools/schema-walk.ts";
export { commandSubject, isExternalTool } from "./tools/target-subject.ts";
export {
  isTemplateVariable,
  parseTemplate,
  type RenderOptions,
  renderTemplate,
  TEMPLATE_VARIABLES,
  type TemplateValues,
  type TemplateVariable,
} from "./tools/template.ts";
export {
  isPmoToolName,
  isReservedToolName,
  isToolName,
  MAX_TOOL_NAME_LENGTH,
  PMO_TOOL_NAMES,
  type PmoToolName,
  parseToolName,
  SUBMIT_RESULT,
} from "./tools/tool-name.ts";
