// From a result to the rows of a settlement. Pure but for the ids and the time passed in.
//   I11. after_execution in the card and in the callback is the command's; a wish for another is in result.__cg_control alone.
//   I1.  Whatever a tool gave becomes a result that can be stored: planning a valid settlement never fails.
//   Lineage is copied from the call, never from the report.

import {
  buildResult,
  canonicalText,
  cardText,
  childTraceparent,
  createContext,
  egress,
  errorResult,
  HEADERS,
  type JsonObject,
  normaliseError,
  type ResultStatus,
  ToolplaneError,
  type ToolResultContent,
  tryParseViews,
  VIEWS_KEY,
} from "@toolplane/protocol";
import { findExcess } from "@toolplane/protocol/agents";
import { CARD_CAPS } from "../cards/prepare-card.ts";
import { wakeupHeaders } from "../outbox/wakeup-headers.ts";
import type { Ids } from "../ports/ids.ts";
import { planSessionState } from "../sessions/plan-session-state.ts";
import type { CallFacts } from "./call.ts";
import { findControlUse } from "./control-acts.ts";
import { eventLine } from "./event-line.ts";
import type { InboxPart, SettleMode, SettleRow } from "./settle.sql.ts";
import type { Sha256 } from "./turn-chain.ts";

/** A tool's result in one step. */
export interface GivenResult {
  readonly status: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
  readonly afterExecution?: unknown;
  /** The definition the code ran under, where the service says so. */
  readonly definitionHash?: string | undefined;
  /** The state for the next call of the session; kept only when this call succeeds. */
  readonly sessionState?: unknown;
  /** Further ways to show the result; a value that is not a view is left out. */
  readonly views?: unknown;
  /** The control keys that were removed from a foreign body before it was reported. */
  readonly strippedControl?: readonly string[] | undefined;
}

/** A result card that exists already: the protocol's two steps, or a card found when its call ends without a report. */
export interface WrittenResult {
  readonly cardId: string;
  readonly hash: string;
  readonly content: ToolResultContent;
}

export interface Settlement {
  readonly facts: CallFacts;
  readonly mode: SettleMode;
  readonly leaseId: string | null;
  /** The call becomes a dead letter as well. */
  readonly dead?: boolean | undefined;
  /** The actor recorded as having settled the call, and the author of a card made here. */
  readonly actorId: string;
  readonly messageType: "tool_result" | "timeout";
  readonly outcome: { readonly given: GivenResult } | { readonly written: WrittenResult };
  /** The reporter's own span, if it made one. */
  readonly traceparent?: string | undefined;
  /** For a card made here: made with the request, so that a second run finds the first. */
  readonly cardId?: string | undefined;
  /** A card that says the same is written already: it is the result, and none is made. */
  readonly standing?: { readonly cardId: string; readonly hash: string } | undefined;
}

export interface SettlementMeans {
  readonly ids: Ids;
  readonly now: string;
  readonly sha256: Sha256;
}

export const resultHash = (content: ToolResultContent, sha256: Sha256): string => sha256(canonicalText(content));

/** A failure that the engine itself reports, in the common shape. */
export const engineFailure = (
  status: ResultStatus,
  error: ToolplaneError,
  source: "watchdog" | "worker" | "tool",
): GivenResult => {
  const envelope = normaliseError(error, { source });
  return { status, result: errorResult(envelope), error: envelope };
};

const errorCodeOf = (content: ToolResultContent): string | null => {
  const error = content.error as JsonObject | null;
  return typeof error?.code === "string" ? error.code : null;
};

/** Shorter cards hold little enough to be read at once, whatever they hold. */
const WEIGHED_CHARS = 32 * 1024;

/** The rule of every door, also for a service that sends no text: a result that takes too long to read holds up all readers. */
const refuseHeavy = ({ result }: ToolResultContent, body: string): ToolplaneError | undefined => {
  const excess = body.length < WEIGHED_CHARS ? undefined : findExcess(JSON.stringify(result));
  return (
    excess &&
    new ToolplaneError("result_too_large", excess.message.replace("the JSON", "the result"), { detail: excess.detail })
  );
};

interface MadeCard extends WrittenResult {
  readonly body: string;
}

const makeCard = (settlement: Settlement, given: GivenResult, means: SettlementMeans): MadeCard => {
  const { facts, actorId } = settlement;
  const views = given.views === undefined ? undefined : tryParseViews(given.views);
  const { card } = buildResult(
    {
      cardId: settlement.cardId ?? means.ids.uuid(),
      createdAt: means.now,
      projectId: facts.projectId,
      agentTurnId: facts.agentTurnId,
      toolCallId: facts.toolCallId,
      authorId: actorId,
      toolName: facts.toolName,
      afterExecution: facts.afterExecution,
      toolCallMetadata: { ...facts.lineage },
      definitionHash: given.definitionHash ?? facts.definitionHash,
      caps: CARD_CAPS,
      mirrorError: true,
      ...(views === undefined ? {} : { extra: { [VIEWS_KEY]: views } }),
    },
    given,
  );
  const body = cardText(card);
  const content = card.content as ToolResultContent;
  const heavy = refuseHeavy(content, body);
  if (heavy !== undefined) return makeCard(settlement, engineFailure("failed", heavy, "tool"), means);
  return { content, cardId: card.card_id, body, hash: means.sha256(body) };
};

/** D-17: the reporter's child span is taken as it is; one is made only where it just repeats the command's. */
const reportTraceparent = (settlement: Settlement, ids: Ids): string => {
  const sent = settlement.facts.headers[HEADERS.traceparent];
  const { traceparent } = settlement;
  if (traceparent !== undefined && traceparent !== sent) return traceparent;
  return childTraceparent(sent ?? "", ids);
};

const NO_INBOX: InboxPart = {
  inboxId: null,
  messageType: null,
  contextHeaders: null,
  payload: null,
  wakeupHeaders: null,
};

const inboxPart = (settlement: Settlement, cardId: string, status: string, means: SettlementMeans): InboxPart => {
  const { facts } = settlement;
  const { ids } = means;
  if (facts.headless) return NO_INBOX;
  const context = createContext({
    projectId: facts.projectId,
    agentId: facts.agentId,
    channelId: facts.channelId,
    agentTurnId: facts.agentTurnId,
    turnEpoch: facts.turnEpoch,
    recursionDepth: facts.recursionDepth,
    stepId: facts.stepId,
    toolCallId: facts.toolCallId,
    traceId: facts.traceId,
    parentStepId: facts.lineage.parent_step_id,
    parentAgentId: facts.headers[HEADERS.parentAgentId],
    parentAgentTurnId: facts.headers[HEADERS.parentTurnId],
    headers: { ...facts.headers, [HEADERS.traceparent]: reportTraceparent(settlement, ids) },
  });
  return {
    inboxId: `inbox_${ids.uuid()}`,
    messageType: settlement.messageType,
    contextHeaders: JSON.stringify(egress(context, ids, "topology")),
    payload: canonicalText({ after_execution: facts.afterExecution, status, tool_result_card_id: cardId }),
    wakeupHeaders: wakeupHeaders(context, { ids, nowMs: Date.parse(means.now) }),
  };
};

/** A failed call does not change its session. */
const CHANGES_SESSION: ReadonlySet<string> = new Set(["success", "partial"]);

/** The given result and its session state; a state that cannot be stored makes it a failure. */
const withState = ({ facts, mode, leaseId }: Settlement, given: GivenResult) => {
  if (facts.session === null || !CHANGES_SESSION.has(String(given.status))) return { given, state: null };
  const held = mode === "report" && leaseId !== null;
  const state = planSessionState({ session: facts.session, held, state: given.sessionState });
  return state === null || typeof state === "string"
    ? { given, state }
    : { given: engineFailure("failed", state, "worker"), state: null };
};

export const planSettlement = (settlement: Settlement, means: SettlementMeans): SettleRow => {
  const { facts, outcome } = settlement;
  const kept = "given" in outcome ? withState(settlement, outcome.given) : undefined;
  const made = kept === undefined ? undefined : makeCard(settlement, kept.given, means);
  const content = made?.content ?? (outcome as { written: WrittenResult }).written.content;
  const { cardId, hash } = settlement.standing ?? made ?? (outcome as { written: WrittenResult }).written;
  return {
    projectId: facts.projectId,
    toolCallId: facts.toolCallId,
    mode: settlement.mode,
    leaseId: settlement.leaseId,
    status: content.status,
    errorCode: errorCodeOf(content),
    settledBy: settlement.actorId,
    resultCardId: cardId,
    resultHash: resultHash(content, means.sha256),
    cardHash: hash,
    cardBody: settlement.standing === undefined ? (made?.body ?? null) : null,
    agentTurnId: facts.agentTurnId,
    stepId: facts.stepId,
    dead: settlement.dead === true,
    ...eventLine(facts, facts.headers),
    ...inboxPart(settlement, cardId, content.status, means),
    sessionState: CHANGES_SESSION.has(content.status) ? (kept?.state ?? null) : null,
    content,
    control: findControlUse(facts.toolName, content, "given" in outcome ? outcome.given.strippedControl : undefined),
  };
};
