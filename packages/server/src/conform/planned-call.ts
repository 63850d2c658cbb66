// A call that conform makes: a command, the card it points to, and the plane's answers about it. The default is a good call; a
// bad call is described by its difference.

import {
  type AfterExecution,
  HEADERS,
  type JsonObject,
  PROTOCOL_VERSION,
  toolCommandSubject,
} from "@toolplane/protocol";
import { commandSubject } from "@toolplane/protocol/registry";

export interface CallIds {
  readonly callId: string;
  readonly turnId: string;
  readonly cardId: string;
  readonly leaseId: string;
  readonly stepId: string;
  readonly parentStepId: string;
  readonly traceId: string;
  readonly spanId: string;
  /** A call id that exists nowhere, for payloads and cards that lie. */
  readonly otherCallId: string;
}

/** Which of the general rules apply to the results of this call. */
export interface CallRules {
  /** The command names its call. */
  readonly identity: boolean;
  readonly afterExecution: boolean;
  /** The card has a lineage to copy. */
  readonly lineage: boolean;
  /** The payload names the tool. */
  readonly toolName: boolean;
  /** It can be leased, and messages about it must name the lease. */
  readonly lease: boolean;
}

/** `later`: queued and not due yet; `held`: another service runs it; `over`: it has ended. */
export type LeaseAnswer = "granted" | "later" | "held" | "over";

/** How a request of the service is answered: a code of the error table, or a page of some proxy. */
export type Refusal = "already_settled" | "lease_lost" | "storage_error" | "proxy_page";

export interface CallScript {
  /** Answers to the first questions for a lease, before it is granted. */
  readonly leases?: readonly Exclude<LeaseAnswer, "granted">[];
  /** Answers to the first results, before they are accepted. */
  readonly results?: readonly Refusal[];
  /** Answers to the first written cards, before they are accepted. */
  readonly cards?: readonly (Refusal | "standing")[];
  readonly heartbeat?: "canceled" | "lost";
  /** The card is kept back until the scenario opens it. */
  readonly holdCard?: boolean;
  readonly leaseMs?: number;
}

export interface CallSpec {
  readonly scenario: string;
  readonly label: string;
  readonly arguments: JsonObject;
  readonly afterExecution?: AfterExecution;
  readonly changePayload?: (payload: JsonObject, ids: CallIds) => unknown;
  /** Bytes that are sent instead of the payload; over NATS only, where a message need not be JSON. */
  readonly rawPayload?: string;
  /** The channel of the subject and the header; `public` when left out. */
  readonly channel?: string;
  /** A project the service is not in. */
  readonly foreignProject?: string;
  readonly changeHeaders?: (headers: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
  /** Undefined: there is no such card. */
  readonly changeCard?: (card: JsonObject, ids: CallIds) => JsonObject | undefined;
  readonly rules?: Partial<CallRules>;
  readonly script?: CallScript;
}

export interface PlannedCall {
  readonly scenario: string;
  readonly label: string;
  readonly ids: CallIds;
  readonly command: {
    readonly subject: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly payload: unknown;
  };
  readonly rawPayload: string | undefined;
  readonly card: JsonObject | undefined;
  readonly afterExecution: AfterExecution;
  readonly rules: CallRules;
  readonly script: CallScript;
}

export interface CallPlace {
  readonly projectId: string;
  readonly target: string;
  readonly toolName: string;
  /** The tool's own subject, when the service registered it. */
  readonly targetSubject: string | undefined;
  readonly uuid: () => string;
  readonly now: () => number;
}

const CHANNEL = "public";
const AGENT = "conform";
const SPAN_DIGITS = 16;
const ALL_RULES: CallRules = { identity: true, afterExecution: true, lineage: true, toolName: true, lease: true };

const planIds = (uuid: () => string): CallIds => {
  const hex = (): string => uuid().replaceAll("-", "");
  return {
    callId: `tc_${hex()}`,
    turnId: `turn_${hex()}`,
    cardId: hex(),
    leaseId: `lease_${hex()}`,
    stepId: `step_${hex()}`,
    parentStepId: `step_${hex()}`,
    traceId: hex(),
    spanId: hex().slice(0, SPAN_DIGITS),
    otherCallId: `tc_${hex()}`,
  };
};

const subjectFor = ({ projectId, target, toolName, targetSubject }: CallPlace, channelId: string): string =>
  targetSubject === undefined
    ? toolCommandSubject({ projectId, channelId }, target, toolName)
    : commandSubject({ target_subject: targetSubject }, { projectId, channelId, agentId: AGENT });

const CHANNEL_TOKEN = 3;

const headersFor = (ids: CallIds, subject: string, { projectId, now }: CallPlace): Record<string, string> => ({
  [HEADERS.projectId]: projectId,
  [HEADERS.channelId]: subject.split(".")[CHANNEL_TOKEN] ?? CHANNEL,
  [HEADERS.agentId]: AGENT,
  [HEADERS.turnId]: ids.turnId,
  [HEADERS.turnEpoch]: "1",
  [HEADERS.stepId]: ids.stepId,
  [HEADERS.toolCallId]: ids.callId,
  [HEADERS.parentStepId]: ids.parentStepId,
  [HEADERS.recursionDepth]: "0",
  [HEADERS.traceparent]: `00-${ids.traceId}-${ids.spanId}-01`,
  [HEADERS.timestamp]: String(now()),
  [HEADERS.version]: PROTOCOL_VERSION,
});

const cardFor = (spec: CallSpec, ids: CallIds, subject: string, place: CallPlace): JsonObject => ({
  card_id: ids.cardId,
  project_id: place.projectId,
  type: "tool.call",
  content: {
    __type__: "ToolCallContent",
    tool_name: place.toolName,
    arguments: spec.arguments,
    status: "called",
    target_subject: subject,
  },
  created_at: new Date(place.now()).toISOString(),
  author_id: AGENT,
  metadata: {
    agent_turn_id: ids.turnId,
    tool_call_id: ids.callId,
    step_id: ids.stepId,
    trace_id: ids.traceId,
    parent_step_id: ids.parentStepId,
  },
  tool_calls: null,
  tool_call_id: ids.callId,
  ttl_seconds: null,
});

export const planCall = (spec: CallSpec, home: CallPlace): PlannedCall => {
  const place = spec.foreignProject === undefined ? home : { ...home, projectId: spec.foreignProject };
  const ids = planIds(place.uuid);
  const subject = subjectFor(place, spec.channel ?? CHANNEL);
  const afterExecution = spec.afterExecution ?? "suspend";
  const payload: JsonObject = {
    tool_call_card_id: ids.cardId,
    tool_name: place.toolName,
    after_execution: afterExecution,
  };
  const headers = headersFor(ids, subject, place);
  const card = cardFor(spec, ids, subject, place);
  return {
    scenario: spec.scenario,
    label: spec.label,
    ids,
    command: {
      subject,
      headers: spec.changeHeaders?.(headers) ?? headers,
      payload: spec.changePayload === undefined ? payload : spec.changePayload(payload, ids),
    },
    rawPayload: spec.rawPayload,
    card: spec.changeCard === undefined ? card : spec.changeCard(card, ids),
    afterExecution,
    rules: { ...ALL_RULES, ...spec.rules },
    script: spec.script ?? {},
  };
};
