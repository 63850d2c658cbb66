// From a request to the rows of a call: arguments layered and checked, ids made, the tool.call card written, the command's
// headers made. Pure except for the ids and the time that are passed in; the database decides whether it happens.

import {
  type AfterExecution,
  type ArgumentsPlan,
  type Card,
  canonicalText,
  cardText,
  createContext,
  createToolCallCard,
  egress,
  HEADERS,
  isStorable,
  isToolplaneError,
  isTrustedActor,
  type JsonObject,
  lineageMeta,
  parseSubject,
  parseTraceparent,
  planArguments,
  type ResolvedToolOptions,
  rawArgumentsHash,
  resolveOptions,
  type Subject,
  stampHeaders,
  type TemplateValues,
  type ToolDefinition,
  ToolplaneError,
} from "@toolplane/protocol";
import { commandSubject, type ValidateValue } from "@toolplane/protocol/registry";
import { CARD_CAPS } from "../cards/prepare-card.ts";
import { derivedUuid, type Ids } from "../ports/ids.ts";
import { LongCheck } from "../registry/schema-checks.ts";
import { planSession } from "../sessions/plan-session.ts";
import type { DispatchRow } from "./dispatch.sql.ts";
import { eventLine } from "./event-line.ts";
import { type ChainLink, chainStart, extendChain, type Sha256 } from "./turn-chain.ts";

export interface PinnedDefinition {
  readonly version: number;
  readonly definitionHash: string;
  readonly definition: ToolDefinition;
  readonly validate: ValidateValue;
}

/** Who asks, in which turn and step; a direct call gets a turn of its own. */
export interface CallOrigin {
  readonly projectId: string;
  readonly agentId: string;
  readonly channelId: string;
  readonly agentTurnId: string;
  readonly turnEpoch: number;
  readonly stepId: string;
  readonly headless: boolean;
  readonly recursionDepth: number;
  readonly parentAgentId?: string | undefined;
  readonly parentAgentTurnId?: string | undefined;
  readonly parentStepId?: string | undefined;
  readonly contextBoxId?: string | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** The span that started the turn's trace. */
  readonly parentTraceparent?: string | undefined;
}

export interface CallAsk {
  readonly toolName: string;
  readonly arguments: unknown;
  /** What people answered to the tool's questions in the round before. Only the plane sets it; no caller can. */
  readonly answers?: JsonObject | undefined;
  readonly providerCallId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly notBeforeMs?: number | undefined;
  readonly retryOf?: string | undefined;
  /**
   * Whether the arguments derive from cards of external trust: their author had read a result from outside. When left out: true
   * for every agent, false for the system's own actors and for people.
   */
  readonly external?: boolean | undefined;
}

export interface PlanCallInput {
  readonly origin: CallOrigin;
  readonly ask: CallAsk;
  readonly pinned: PinnedDefinition;
  readonly chain: ChainLink;
  readonly toolCallId: string;
  readonly now: string;
  readonly ids: Ids;
  readonly sha256: Sha256;
  /** An external bus carries commands: the outbox row needs the payload. */
  readonly external: boolean;
}

const SENDER = "toolplane";
const MAX_KEY_LENGTH = 255;
// Later than any real plan, and near enough to catch a time in the wrong unit.
const MAX_AHEAD_MS = 10 * 366 * 24 * 3_600_000;

/** The actor whose result a command on this subject asks for: `tool.text`, `sys.pmo`. */
const actorOfSubject = (subject: Pick<Subject, "component" | "target">): string =>
  `${subject.component}.${subject.target}`;

export const commandPayloadText = (callCardId: string, toolName: string, afterExecution: AfterExecution): string =>
  canonicalText({ after_execution: afterExecution, tool_call_card_id: callCardId, tool_name: toolName });

export const checkIdempotencyKey = (key: string | undefined): void => {
  if (key === undefined) return;
  if (key === "" || key.length > MAX_KEY_LENGTH || !isStorable(key))
    throw new ToolplaneError(
      "bad_request",
      `an idempotency key is 1 to ${MAX_KEY_LENGTH} characters of well-formed text`,
    );
};

/** A call for later must settle one day: a time that never comes, or that is not a time, is refused (I1). */
const checkNotBefore = (notBeforeMs: number | undefined, now: string): void => {
  if (notBeforeMs === undefined) return;
  if (!Number.isFinite(notBeforeMs) || notBeforeMs < 0 || notBeforeMs > Date.parse(now) + MAX_AHEAD_MS)
    throw new ToolplaneError("bad_request", "the time before which a call must not start is within the next ten years");
};

/** A direct call is a headless turn: its own turn and step ids, derived from the call's, no head. */
export const headlessOrigin = (
  request: Pick<CallOrigin, "projectId" | "agentId" | "channelId" | "traceparent" | "tracestate" | "recursionDepth">,
  toolCallId: string,
): CallOrigin => ({
  ...request,
  agentTurnId: `turn_${toolCallId}`,
  turnEpoch: 0,
  stepId: `step_${toolCallId}`,
  headless: true,
});

export const originChain = (origin: CallOrigin, sha256: Sha256): ChainLink => chainStart(origin, sha256);

const variablesOf = (origin: CallOrigin, toolCallId: string, traceId: string): TemplateValues => ({
  project_id: origin.projectId,
  channel_id: origin.channelId,
  agent_id: origin.agentId,
  agent_turn_id: origin.agentTurnId,
  turn_epoch: origin.turnEpoch,
  step_id: origin.stepId,
  tool_call_id: toolCallId,
  trace_id: traceId,
  parent_step_id: origin.parentStepId,
  context_box_id: origin.contextBoxId,
  recursion_depth: origin.recursionDepth,
  parent_agent_id: origin.parentAgentId,
  parent_agent_turn_id: origin.parentAgentTurnId,
});

const contextOf = (origin: CallOrigin, toolCallId: string, ids: Ids) => {
  const traceId = origin.traceparent === undefined ? ids.traceId() : parseTraceparent(origin.traceparent).traceId;
  const headers: Record<string, string> = {};
  if (origin.traceparent !== undefined) headers[HEADERS.traceparent] = origin.traceparent;
  if (origin.tracestate !== undefined) headers[HEADERS.tracestate] = origin.tracestate;
  if (origin.parentTraceparent !== undefined) headers[HEADERS.parentTraceparent] = origin.parentTraceparent;
  return createContext({
    projectId: origin.projectId,
    agentId: origin.agentId,
    channelId: origin.channelId,
    agentTurnId: origin.agentTurnId,
    turnEpoch: origin.turnEpoch,
    recursionDepth: origin.recursionDepth,
    stepId: origin.stepId,
    toolCallId,
    traceId,
    parentAgentId: origin.parentAgentId,
    parentAgentTurnId: origin.parentAgentTurnId,
    parentStepId: origin.parentStepId,
    headers,
  });
};

/** The card's limit is the arguments' limit; here the request is too large, not a result. */
const callCardText = (card: Card): string => {
  try {
    return cardText(card, CARD_CAPS);
  } catch (error) {
    if (!isToolplaneError(error) || error.code !== "result_too_large") throw error;
    throw new ToolplaneError(
      "payload_too_large",
      `the arguments are too large: ${error.message}; pass a pointer instead`,
      {
        detail: error.detail,
      },
    );
  }
};

const argumentsOf = ({ pinned, ask }: PlanCallInput, variables: TemplateValues): ArgumentsPlan => {
  const { definition, definitionHash, validate } = pinned;
  try {
    return planArguments({ definition, rawArguments: ask.arguments, answers: ask.answers, variables, validate });
  } catch (error) {
    if (error instanceof LongCheck) error.about = { definitionHash, ask };
    throw error;
  }
};

/** What makes two requests the same (I12): a further round is another one when its answers differ. */
export const askedHash = ({ arguments: given, answers }: CallAsk, sha256: Sha256): string =>
  rawArgumentsHash(answers === undefined ? given : { arguments: given, answers }, sha256);

export interface PlannedCall {
  readonly row: DispatchRow;
  readonly chain: ChainLink;
  /** Whether a waiting service may have it at once: neither the call nor its tool needs the queue. */
  readonly free: boolean;
  /** Arguments whose values from the caller were dropped, because the definition sets them. */
  readonly dropped: readonly string[];
}

/** Fails closed: an agent that does not say what its arguments derive from may have read anything. */
const wantsApproval = ({ approval }: ResolvedToolOptions, { external }: CallAsk, { agentId }: CallOrigin): boolean =>
  approval.policy === "required" || (approval.policy === "external" && (external ?? !isTrustedActor(agentId)));

/** Limits and the order of sessions are kept where calls are claimed, and a plain service never leases. */
const isFree = (options: ResolvedToolOptions, ask: CallAsk, session: string | null): boolean =>
  session === null &&
  ask.notBeforeMs === undefined &&
  options.service !== "plain" &&
  options.concurrency === undefined &&
  options.rate === undefined;

export const planCall = (input: PlanCallInput): PlannedCall => {
  const { origin, ask, pinned, toolCallId, ids, sha256, now } = input;
  const { definition } = pinned;
  const options = resolveOptions(definition.options);
  checkIdempotencyKey(ask.idempotencyKey);
  checkNotBefore(ask.notBeforeMs, now);
  const subjectText = commandSubject(definition, origin);
  const subject = parseSubject(subjectText);
  // A definition may fix the channel its commands travel in: then their headers say so too, or every service that checks would
  // refuse them (UTP 2.3.3). The call stays in its caller's channel, where its result is told.
  const context = contextOf({ ...origin, channelId: subject.channelId }, toolCallId, ids);
  const planned = argumentsOf(input, variablesOf(origin, toolCallId, context.traceId ?? ""));
  const lineage = lineageMeta(context);
  const card = createToolCallCard({
    // Made of the call's id: a request that is planned again after its answer was lost meets its card, whatever became of the
    // call.
    cardId: derivedUuid(toolCallId, "tool.call", sha256),
    projectId: origin.projectId,
    createdAt: now,
    authorId: origin.agentId,
    agentTurnId: origin.agentTurnId,
    toolCallId,
    toolName: definition.tool_name,
    arguments: planned.arguments,
    targetSubject: subjectText,
    lineage,
    contextBoxId: origin.contextBoxId,
    toolVersion: pinned.version,
    definitionHash: pinned.definitionHash,
    providerToolCallId: ask.providerCallId,
    ...planned.metadata,
  });
  const cardBody = callCardText(card);
  const callCardHash = sha256(cardBody);
  const chain = extendChain(input.chain, callCardHash, sha256);
  const headers = stampHeaders(egress(context, ids, "topology"), {
    timestampMs: Date.parse(now),
    msgType: "ToolCommandPayload",
    sender: SENDER,
  });
  const needsApproval = wantsApproval(options, ask, origin);
  const session = planSession({ ...origin, target: subject.target }, options.session, planned.arguments);
  return {
    chain,
    dropped: planned.dropped,
    free: !needsApproval && isFree(options, ask, session),
    row: {
      projectId: origin.projectId,
      toolCallId,
      status: needsApproval ? "awaiting_approval" : "queued",
      pin: options.pin === "strict" ? pinned.definitionHash : null,
      agentId: origin.agentId,
      trusted: isTrustedActor(origin.agentId),
      agentTurnId: origin.agentTurnId,
      turnEpoch: origin.turnEpoch,
      stepId: origin.stepId,
      headless: origin.headless,
      channelId: origin.channelId,
      providerCallId: ask.providerCallId ?? null,
      toolName: definition.tool_name,
      toolVersion: pinned.version,
      definitionHash: pinned.definitionHash,
      subject: subjectText,
      target: subject.target,
      actorId: actorOfSubject(subject),
      afterExecution: definition.after_execution,
      callCardId: card.card_id,
      callCardHash,
      headers: JSON.stringify(headers),
      lineage: JSON.stringify(lineage),
      recursionDepth: origin.recursionDepth,
      traceId: context.traceId ?? "",
      retrySafe: options.retry === "safe",
      plain: options.service === "plain",
      timeoutSeconds: options.timeoutSeconds,
      queueTimeoutSeconds: needsApproval ? options.approval.timeoutSeconds : options.queueTimeoutSeconds,
      idempotencyKey: ask.idempotencyKey ?? null,
      argumentsHash: askedHash(ask, sha256),
      retryOf: ask.retryOf ?? null,
      session,
      chainSeq: chain.seq,
      chainHash: chain.hash,
      notBeforeMs: ask.notBeforeMs ?? null,
      cardBody,
      commandPayload: input.external
        ? commandPayloadText(card.card_id, definition.tool_name, definition.after_execution)
        : null,
      leaseId: null,
      leaseHolder: null,
      leaseSeconds: null,
      ...eventLine({ ...origin, toolCallId, toolName: definition.tool_name }, headers),
    },
  };
};
