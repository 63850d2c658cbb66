// The public face of @toolplane/protocol: what every call needs. What only some parts need has doors of its own:
// ./registry (registering tools, projects, agents, profiles), ./agents (turns, events, transcripts), ./host (NDJSON
// hosts), ./v1r3 (the older wire), ./reference (pages written from the tables).

export { type Backoff, backoff } from "./backoff/backoff.ts";
export {
  type Card,
  cardText,
  parseCard,
  parseWritableCard,
} from "./cards/card.ts";
export { parseCardDto, toCardDto } from "./cards/card-dto.ts";
export { distinctIds, orderAsRequested } from "./cards/card-order.ts";
export {
  CARD_AUTHORS,
  CARD_TYPES,
} from "./cards/card-types.ts";
export {
  type TextContent,
  type ToolResultContent,
  textContent,
} from "./cards/content.ts";
export { LINEAGE_KEYS, lineageDifference } from "./cards/lineage.ts";
export {
  createToolCallCard,
  createToolResultCard,
} from "./cards/tool-cards.ts";
export {
  type CGContext,
  createContext,
} from "./context/context.ts";
export {
  asActor,
  withToolCall,
} from "./context/evolve.ts";
export { lineageMeta, withLineageMeta } from "./context/lineage.ts";
export {
  requireToolCall,
  requireTurn,
} from "./context/queries.ts";
export {
  ERROR_CODES,
  ERROR_TABLE,
  type ErrorCode,
  isErrorCode,
  mayHelp,
} from "./errors/error-table.ts";
export { didYouMean, nearest } from "./errors/nearest.ts";
export { parseWith } from "./errors/parse-with.ts";
export { describeSchemaIssue } from "./errors/schema-issue.ts";
export { showName } from "./errors/show-name.ts";
export {
  badRequest,
  type ErrorDetail,
  isToolplaneError,
  ToolplaneError,
  UsageError,
  violation,
  type WireError,
} from "./errors/toolplane-error.ts";
export { understandError } from "./errors/understand-error.ts";
export { controlFieldsOf } from "./headers/control-fields.ts";
export { egress } from "./headers/egress.ts";
export {
  type HeaderMap,
  isHeaderText,
  normalizeHeaders,
} from "./headers/header-map.ts";
export { HEADERS } from "./headers/header-names.ts";
export { headersFromHttp } from "./headers/http-headers.ts";
export { type Ingress, ingress } from "./headers/ingress.ts";
export { stampHeaders } from "./headers/stamps.ts";
export { canonicalText } from "./json/canonical-text.ts";
export { copyJson } from "./json/json-copy.ts";
export { formatJsonPath, type JsonPathSegment } from "./json/json-path.ts";
export {
  exceedsBytes,
  isFilled,
  isRecord,
  type JsonCaps,
  type JsonObject,
  type JsonValue,
  MAX_JSON_BYTES,
  MAX_JSON_DEPTH,
  utf8Bytes,
} from "./json/json-value.ts";
export { type JsonReading, parseJsonStrict, readJson, tryParseJsonStrict } from "./json/parse-json.ts";
export { isStorable, mayBeUnstorable, refuseUnstorable, storableText } from "./json/storable-text.ts";
export { type CallbackPayload, parseCallbackPayload } from "./payloads/callback.ts";
export { type CommandPayload, parseCommandPayload } from "./payloads/command.ts";
export type { WakeupPayload, WakeupReason } from "./payloads/wakeup.ts";
export {
  CONTROL_PREFIX,
  readOverride,
  stripControl,
} from "./results/control.ts";
export {
  type ErrorEnvelope,
  errorResult,
  normaliseError,
  withAdvice,
} from "./results/error-envelope.ts";
export { normaliseResult } from "./results/normalise-result.ts";
export {
  type BuiltResult,
  buildFailure,
  buildResult,
  draftFailure,
  draftResult,
  type ResultContext,
  type ResultDraft,
  type ResultOutcome,
} from "./results/result-builder.ts";
export { type ResultViews, tryParseViews, VIEWS_KEY } from "./results/result-views.ts";
export { buildValidationFailure } from "./results/validation-failure.ts";
export {
  AFTER_EXECUTIONS,
  type AfterExecution,
  coerceStatus,
  DEFAULT_AFTER_EXECUTION,
  isResultStatus,
  RESULT_STATUSES,
  type ResultStatus,
} from "./results/value-sets.ts";
export {
  chunkStreamSubject,
  GATEWAY_OPERATIONS,
  type GatewayOperation,
  gatewaySubject,
  partStreamSubject,
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
  parsePattern,
  type SubjectPattern,
} from "./subjects/pattern.ts";
export {
  DEFAULT_CHANNEL,
  PROTOCOL_VERSION,
  parseSubject,
  type Subject,
  tryParseSubject,
} from "./subjects/subject.ts";
export { parseToolTarget } from "./subjects/target-template.ts";
export {
  durableLabel,
  isToken,
  isTrustedActor,
  parseToken,
  streamToken,
} from "./subjects/token.ts";
export { planAfterExecution } from "./tools/after-execution.ts";
export { type ToolDefinition, toolDefinitionSchema } from "./tools/definition.ts";
export {
  definitionHash,
  definitionText,
  HASHED_FIELDS,
  type HashText,
} from "./tools/definition-hash.ts";
export { foldName } from "./tools/fold-name.ts";
export { type Breaker, burstOf, type Rate, type RetryPolicy } from "./tools/limits.ts";
export {
  DEFAULT_TIMEOUT_SECONDS,
  isOfferedTo,
  type ResolvedToolOptions,
  resolveOptions,
  TOOL_OPTION_NAMES,
  type ToolOptions,
} from "./tools/options.ts";
export {
  type ArgumentsPlan,
  planArguments,
} from "./tools/plan-arguments.ts";
export { parseRawArguments, rawArgumentsHash } from "./tools/raw-arguments.ts";
export type { TemplateValues } from "./tools/template.ts";
export {
  childTraceparent,
  createTraceparent,
  parseTraceparent,
  type TraceIds,
  tryParseTraceparent,
} from "./trace/traceparent.ts";
