// Decides whether a report may settle a call. Knowing the call's id is not enough: the card must exist in the same project,
// be a result of this very call, be written by the actor the command was sent to, carry the call's own lineage and leave
// the command's after_execution alone (I11). Pure: the engine gathers the facts, this gives the verdict.

import { type Card, checkConventions } from "../cards/card.ts";
import { CARD_AUTHORS, CARD_TYPES } from "../cards/card-types.ts";
import { type Lineage, lineageDifference } from "../cards/lineage.ts";
import { ToolplaneError, violation } from "../errors/toolplane-error.ts";
import { type CallIdentity, checkCallIdentity, checkCallTrace } from "../headers/call-identity.ts";
import type { HeaderMap } from "../headers/header-map.ts";
import { HEADERS } from "../headers/header-names.ts";
import { isFilled } from "../json/json-value.ts";
import { type CallbackPayload, parseCallbackPayload } from "../payloads/callback.ts";
import type { AfterExecution } from "./value-sets.ts";

/** What the engine knows about the call. */
export interface ExpectedCall extends CallIdentity {
  readonly toolName: string;
  /** The actors that may answer: the one the command was sent to, and the watchdog where it acts. */
  readonly actors: readonly string[];
  readonly afterExecution: AfterExecution;
  /** From the tool.call card's metadata. */
  readonly lineage: Lineage;
}

export interface Report {
  readonly payload: unknown;
  /** The correlation the report came under: the call it claims to answer. */
  readonly toolCallId: string;
  /** The authenticated producer, never a name from the message. */
  readonly sourceActor: string;
  readonly sourceProjectId: string;
  /** What the report says about its call; a field that is left out counts as the call's own. */
  readonly headers?: HeaderMap | undefined;
}

export type ReportVerdict =
  | { readonly ok: true; readonly payload: CallbackPayload; readonly card: Card }
  | { readonly ok: false; readonly error: ToolplaneError };

/** The watchdog reports under its service name and signs cards with its own. */
export const WATCHDOG_ACTOR = "sys.agent_worker.watchdog";

const isAuthor = (author: string, actor: string): boolean =>
  author === actor || (actor === WATCHDOG_ACTOR && author === CARD_AUTHORS.watchdog);

const wrongActor = (message: string): ToolplaneError => new ToolplaneError("invalid_source_actor", message);

const checkSource = (report: Report, call: ExpectedCall): void => {
  if (!isFilled(report.sourceActor)) throw violation("the report has no source actor");
  if (report.sourceProjectId !== call.projectId) throw violation("the report comes from another project");
  if (!call.actors.includes(report.sourceActor)) throw wrongActor("the call was not sent to this actor");
  if (report.toolCallId !== call.toolCallId) throw violation("the report is for another call");
  const { headers = {} } = report;
  checkCallIdentity(headers, call);
  checkCallTrace(headers[HEADERS.traceparent], call);
};

/** A card of another project does not exist for us (I7), and the answer does not tell the difference. */
const findCard = (card: Card | undefined, payload: CallbackPayload, call: ExpectedCall): Card => {
  if (card === undefined || card.project_id !== call.projectId || card.card_id !== payload.tool_result_card_id) {
    throw violation("the result card does not exist", { card_id: payload.tool_result_card_id });
  }
  return card;
};

const checkCardIdentity = (card: Card, report: Report, call: ExpectedCall): void => {
  if (card.type !== CARD_TYPES.toolResult) throw violation(`the card is a ${card.type}, not a tool.result`);
  if ((card.tool_call_id ?? card.metadata.tool_call_id) !== call.toolCallId) {
    throw violation("the result card belongs to another call");
  }
  if (!isAuthor(card.author_id, report.sourceActor)) throw violation("the result card was written by another actor");
  if (!isFilled(card.metadata.function_name)) throw violation("the result card names no function");
  checkConventions(card);
};

const checkCardFacts = (card: Card, payload: CallbackPayload, call: ExpectedCall): void => {
  if (card.metadata.function_name !== call.toolName) throw violation("the result card is for another tool");
  if (card.metadata.agent_turn_id !== call.agentTurnId) throw violation("the result card belongs to another turn");
  const differs = lineageDifference(card.metadata, call.lineage);
  if (differs !== undefined) throw violation(`the result card's ${differs} is not the call's`, { field: differs });
  if (card.content.__type__ !== "ToolResultContent") throw violation("the result card holds no ToolResultContent");
  if (card.content.status !== payload.status) throw violation("the callback and the card disagree about the status");
  if (card.content.after_execution !== call.afterExecution || payload.after_execution !== call.afterExecution) {
    throw violation("after_execution is not the command's; an override belongs into result.__cg_control");
  }
};

const check = (report: Report, card: Card | undefined, call: ExpectedCall): ReportVerdict => {
  const payload = parseCallbackPayload(report.payload, { boundary: "report" });
  checkSource(report, call);
  const found = findCard(card, payload, call);
  checkCardIdentity(found, report, call);
  checkCardFacts(found, payload, call);
  return { ok: true, payload, card: found };
};

/** `card` is the parsed card under the report's pointer in the call's project; undefined when there is none. */
export const planReportCheck = (report: Report, card: Card | undefined, call: ExpectedCall): ReportVerdict => {
  try {
    return check(report, card, call);
  } catch (error) {
    if (!(error instanceof ToolplaneError)) throw error;
    // A malformed report counts as a protocol violation like any other bad report; only wrong status words have their own codes.
    const refused = error.code === "bad_request" ? violation(error.message, error.detail) : error;
    return { ok: false, error: refused };
  }
};
