// Takes results: in one step, or a card and then a report. Everything is recorded and nearly everything is accepted, so that one
// mistake of a service shows as one fault and not as several.

import { HEADERS, headersFromHttp, isFilled, isRecord } from "@toolplane/protocol";
import { type CallRecord, contentText, type Offer } from "../evidence.ts";
import type { Refusal } from "../planned-call.ts";
import { noSuch, refuse, refuseStanding } from "./refuse.ts";

type Body = Readonly<Record<string, unknown>>;

export interface ResultDeskOptions {
  /** The call of an id; also for the false id that a scenario showed together with the call. */
  readonly findByCall: (callId: string) => CallRecord | undefined;
  readonly findByLease: (leaseId: string) => CallRecord | undefined;
  readonly onStray: (offer: Offer) => void;
  readonly nextOrder: () => number;
}

export interface ResultDesk {
  takeResult(callId: string, body: Body, headers: Headers): Response;
  takeCard(body: Body): Response;
  takeReport(body: Body, headers: Headers): Response;
  /** It has a result, or was canceled. */
  isSettled(record: CallRecord): boolean;
}

/** A report's body has three fields, so its lease is in a header. */
const LEASE_HEADER = "cg-lease";

/** The text of a field; nothing when it is blank or of another type. */
export const textOrNothing = (value: unknown): string | undefined => (isFilled(value) ? value : undefined);

/** What a report delivers: the card's content, or only the status while there is no card. */
const resultIn = (card: Body | undefined, callback: Body): Pick<Offer, "status" | "result" | "error"> => {
  const content = isRecord(card?.content) ? card.content : {};
  return { status: content.status ?? callback.status, result: content.result, error: content.error };
};

interface Script {
  readonly results: Refusal[];
  readonly cards: (Refusal | "standing")[];
}

/** The card another process of the service is said to have written. */
export const standingCardId = ({ call }: CallRecord): string => `standing_${call.ids.cardId}`;

export const createResultDesk = (options: ResultDeskOptions): ResultDesk => {
  const { findByCall, findByLease, nextOrder } = options;
  const cards = new Map<string, Body>();
  const accepted = new Map<CallRecord, string>();
  const pending = new Map<CallRecord, Script>();
  /** Reports whose card is not there yet, by the card's id. */
  const early = new Map<string, CallRecord>();

  const scriptOf = (record: CallRecord): Script => {
    const { results = [], cards: written = [] } = record.call.script;
    const left = pending.get(record) ?? { results: [...results], cards: [...written] };
    pending.set(record, left);
    return left;
  };

  /** A call that was canceled or lost takes no result any more. */
  const isOver = ({ trace }: CallRecord): Refusal | undefined => {
    const answers = trace.heartbeats.map(({ answer }) => answer);
    if (answers.includes("canceled")) return "already_settled";
    return answers.includes("lost") ? "lease_lost" : undefined;
  };

  const settle = (record: CallRecord, content: string, cardId: string): Response => {
    const refusal = isOver(record) ?? scriptOf(record).results.shift();
    if (refusal !== undefined) return refuse(refusal);
    const before = accepted.get(record);
    if (before !== undefined && before !== content) return refuse("already_settled");
    accepted.set(record, content);
    return Response.json({ tool_result_card_id: cardId, idempotent: before !== undefined });
  };

  const take = (offered: Omit<Offer, "order" | "answered">, record: CallRecord | undefined): Response => {
    const draft: Offer = { ...offered, order: nextOrder(), answered: 404 };
    if (record === undefined) {
      options.onStray(draft);
      return noSuch(`call ${offered.addressedTo ?? "without a name"}`);
    }
    const cardId = textOrNothing(offered.card?.card_id) ?? `result_${record.call.ids.cardId}`;
    const response = settle(record, contentText(draft), cardId);
    record.trace.offers.push({ ...draft, answered: response.status });
    return response;
  };

  /** A card that comes after its report still says what the result is. */
  const complete = (cardId: string, card: Body): void => {
    const { trace } = early.get(cardId) ?? {};
    const index = trace?.offers.findIndex(({ body }) => body.tool_result_card_id === cardId) ?? -1;
    const offer = trace?.offers[index];
    if (trace === undefined || offer === undefined || offer.card !== undefined) return;
    trace.offers[index] = { ...offer, card, ...resultIn(card, offer.body) };
  };

  return {
    isSettled: (record) => accepted.has(record) || isOver(record) === "already_settled",
    takeResult(callId, body, headers) {
      const lease = textOrNothing(body.lease);
      const offer = {
        form: "one-step" as const,
        addressedTo: callId,
        lease,
        traceparent: headers.get(HEADERS.traceparent) ?? undefined,
        headers: headersFromHttp(headers),
        body,
        card: undefined,
        cardWasThere: false,
        status: body.status,
        result: body.result,
        error: body.error,
      };
      return take(offer, findByCall(callId) ?? findByLease(lease ?? ""));
    },
    takeCard(body) {
      const cardId = textOrNothing(body.card_id);
      const record = findByCall(textOrNothing(body.tool_call_id) ?? "");
      const refusal = record === undefined ? undefined : scriptOf(record).cards.shift();
      if (refusal !== undefined && refusal !== "standing") return refuse(refusal);
      if (refusal === "standing" && record !== undefined) {
        // Recorded all the same, so that reporting the card is one fault and not two.
        if (cardId !== undefined) cards.set(cardId, body);
        const standing = standingCardId(record);
        cards.set(standing, { ...body, card_id: standing });
        return refuseStanding(standing, resultIn(body, {}).status);
      }
      if (cardId !== undefined) {
        cards.set(cardId, body);
        complete(cardId, body);
      }
      return Response.json({ card_id: cardId ?? null, hash: "" }, { status: 201 });
    },
    takeReport(body, headers) {
      const cardId = textOrNothing(body.tool_result_card_id) ?? "";
      const card = cards.get(cardId);
      const addressedTo = headers.get(HEADERS.toolCallId) ?? undefined;
      const lease = headers.get(LEASE_HEADER) ?? undefined;
      const offer = {
        form: "report" as const,
        addressedTo,
        lease,
        traceparent: headers.get(HEADERS.traceparent) ?? undefined,
        headers: headersFromHttp(headers),
        body,
        card,
        cardWasThere: card !== undefined,
        ...resultIn(card, body),
      };
      const named = findByCall(addressedTo ?? "") ?? findByLease(lease ?? "");
      const record = named ?? findByCall(textOrNothing(card?.tool_call_id) ?? "");
      if (card === undefined && record !== undefined) early.set(cardId, record);
      return take(offer, record);
    },
  };
};
