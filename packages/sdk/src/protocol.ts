// @toolplane/sdk/protocol: the low-level pieces, for people who write their own loop instead of using serveTools.
// Ingress gives identity, the card gives arguments, the builder makes the result, the report hands it over.

export {
  asActor,
  type BuiltResult,
  buildFailure,
  buildResult,
  type CallbackPayload,
  type Card,
  type CGContext,
  type CommandPayload,
  childTraceparent,
  createContext,
  ERROR_TABLE,
  type ErrorCode,
  egress,
  HEADERS,
  type Ingress,
  ingress,
  isErrorCode,
  isToolplaneError,
  type JsonObject,
  type JsonValue,
  normaliseResult,
  parseCallbackPayload,
  parseCardDto,
  parseCommandPayload,
  parseSubject,
  type ResultContext,
  type ResultOutcome,
  type Subject,
  ToolplaneError,
  type TraceIds,
  tryParseSubject,
  withLineageMeta,
} from "@toolplane/protocol";
export { withChildSpan } from "@toolplane/protocol/agents";
export type {
  ClaimedCommand,
  HeldCall,
  Patience,
  Report,
  ServiceResult,
  Settled,
  ToolGateway,
} from "./gateway/gateway.ts";
export { mayPass, type PatienceDeps, planRetry, withPatience } from "./gateway/patience.ts";
export { createHttpGateway, type HttpGatewayOptions } from "./http/http-gateway.ts";
export { createResultContext, type ResultOrigin, type ResultReport, reportResult } from "./loop/report-result.ts";
export { createNatsToolGateway, type NatsToolGatewayOptions } from "./nats/nats-tool-gateway.ts";
export { type OpenNatsGateway, type OpenNatsOptions, openNatsToolGateway } from "./nats/open-nats.ts";
export { systemClock } from "./ports/clock.ts";
export { createIds, sha256 } from "./ports/ids.ts";
export { type HydratedCall, type HydrationInput, hydrate } from "./runner/hydrate.ts";
export { idempotencyKey } from "./runner/idempotency-key.ts";
export { type CommandPlan, planCommand, type RunnerPlace } from "./runner/plan-command.ts";
