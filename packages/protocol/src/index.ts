// The public face of @toolplane/protocol: what every call needs. What only some parts need has doors of its own:
// ./registry (registering tools, projects, agents, profiles), ./agents (turns, events, transcripts), ./host (NDJSON
// hosts), ./v1r3 (the older wire), ./reference (pages written from the tables).

export {
  type Card,
  cardSchema,
  cardText,
  checkConventions,
  parseCard,
  parseWritableCard,
} from "./cards/card.ts";
export { type CardDto, parseCardDto, toCardDto, toolsAsJson } from "./cards/card-dto.ts";
export { distinctIds, orderAsRequested } from "./cards/card-order.ts";
export type { CardOrigin } from "./cards/card-origin.ts";
export {
  CARD_AUTHORS,
  CARD_CONVENTIONS,
  CARD_TYPES,
  type CardConvention,
  isKnownCardType,
  type KnownCardType,
} from "./cards/card-types.ts";
export {
  type CardContent,
  type ContentType,
  contentSchema,
  fieldsSchemaContentSchema,
  type JsonContent,
  jsonContent,
  jsonContentSchema,
  type TextContent,
  type ToolContent,
  type ToolResultContent,
  textContent,
  textContentSchema,
  toolCallContentSchema,
  toolContentSchema,
  toolResultContentSchema,
} from "./cards/content.ts";
export { copyLineage, LINEAGE_KEYS, type Lineage, type LineageKey, lineageDifference } from "./cards/lineage.ts";
export {
  createToolCallCard,
  createToolResultCard,
  type ToolCallCardInput,
  type ToolResultCardInput,
} from "./cards/tool-cards.ts";
export {
  type CGContext,
  type ContextFields,
  type ContextPatch,
  createContext,
  evolveContext,
} from "./context/context.ts";
export {
  asActor,
  withToolCall,
} from "./context/evolve.ts";
export { type LineageMeta, lineageMeta, withLineageMeta } from "./context/lineage.ts";
export {
  requireToolCall,
  requireTurn,
} from "./context/queries.ts";
export {
  ERROR_CODES,
  ERROR_TABLE,
  type ErrorCode,
  type ErrorEntry,
  isErrorCode,
  type RetryAdvice,
} from "./errors/error-table.ts";
export { describeSchemaMessage, parseWith } from "./errors/parse-with.ts";
export { showName } from "./errors/show-name.ts";
export {
  type ErrorDetail,
  isToolplaneError,
  ToolplaneError,
  type ToolplaneErrorOptions,
  UsageError,
  violation,
  type WireError,
} from "./errors/toolplane-error.ts";
export { type UnderstandOptions, understandError } from "./errors/understand-error.ts";
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
} from "./headers/header-names.ts";
export { type HttpHeaders, headersFromHttp } from "./headers/http-headers.ts";
export { type InboundMessage, type Ingress, type IngressOptions, ingress } from "./headers/ingress.ts";
export { DEFAULT_SENDER, type Stamps, stampHeaders } from "./headers/stamps.ts";
export { canonicalText } from "./json/canonical-text.ts";
export { copyJson } from "./json/json-copy.ts";
export { formatJsonPath, type JsonPathSegment } from "./json/json-path.ts";
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
export { type JsonExcess, MAX_JSON_SHAPES, MAX_JSON_VALUES } from "./json/json-work.ts";
export { type JsonReading, parseJsonInTurns, parseJsonStrict, tryParseJsonStrict } from "./json/parse-json.ts";
export { isStorable, mayBeUnstorable, refuseUnstorable } from "./json/storable-text.ts";
export { type CallbackPayload, type CallbackPolicy, parseCallbackPayload } from "./payloads/callback.ts";
export { type CommandPayload, type CommandPolicy, parseCommandPayload, UNKNOWN_TOOL_NAME } from "./payloads/command.ts";
export { WAKEUP_REASONS, type WakeupPayload, type WakeupReason } from "./payloads/wakeup.ts";
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
export { normaliseResult, type ResultInput } from "./results/normalise-result.ts";
export {
  type BuiltResult,
  buildFailure,
  buildResult,
  type ResultContext,
  type ResultOutcome,
} from "./results/result-builder.ts";
export { MAX_VIEWS_BYTES, type ResultViews, readModelView, tryParseViews, VIEWS_KEY } from "./results/result-views.ts";
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
  partStreamSubject,
  type SubjectFamily,
  type SubjectScope,
  stateEventSubject,
  stepEventSubject,
  taskEventSubject,
  toolCommandSubject,
  uiActionAckSubject,
  uiMarkerSubject,
} from "./subjects/families.ts";
export {
  createPattern,
  matchesPattern,
  type PatternParts,
  parsePattern,
  type SubjectPattern,
} from "./subjects/pattern.ts";
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
  actorToken,
  durableLabel,
  isToken,
  isTrustedActor,
  parseToken,
  streamToken,
} from "./subjects/token.ts";
export { type AfterExecutionPlan, planAfterExecution } from "./tools/after-execution.ts";
export { type ToolDefinition, toolDefinitionSchema } from "./tools/definition.ts";
export {
  definitionHash,
  definitionText,
  diffDefinitions,
  HASHED_FIELDS,
  type HashText,
} from "./tools/definition-hash.ts";
export {
  DEFAULT_APPROVAL_SECONDS,
  DEFAULT_QUEUE_TIMEOUT_SECONDS,
  DEFAULT_TIMEOUT_SECONDS,
  isOfferedTo,
  type ResolvedToolOptions,
  resolveOptions,
  type ToolOptions,
  toolOptionsSchema,
} from "./tools/options.ts";
export {
  type ArgumentsMetadata,
  type ArgumentsPlan,
  type PlanArgumentsInput,
  planArguments,
} from "./tools/plan-arguments.ts";
export { parseRawArguments, rawArgumentsHash } from "./tools/raw-arguments.ts";
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
  childTraceparent,
  createTraceparent,
  ensureTraceparent,
  parseTraceId,
  parseTraceparent,
  type TraceIds,
  type Traceparent,
  tryParseTraceparent,
} from "./trace/traceparent.ts";
