// What was seen of a service: the requests it made and what became of each call it was given. Written by the scripted
// plane while the scenarios run, read by the judges when they are over.

import type { JsonObject } from "@toolplane/protocol";
import type { PlannedCall } from "./planned-call.ts";

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** The Authorization header carried the token, as a bearer token. */
  readonly hasToken: boolean;
  /** The path belongs to the API of tool services. */
  known: boolean;
}

export interface SeenClaim {
  readonly target: string;
  readonly max: number;
  /** Why a real server would refuse it. */
  readonly fault: string | undefined;
}

export interface Registration {
  readonly toolName: string;
  readonly fault: string | undefined;
}

/** A result as it was handed over, in one step or as a report that points to a card. */
export interface Offer {
  readonly order: number;
  readonly form: "one-step" | "report";
  /** The call the request names: in its path, or in its CG-Tool-Call-Id header. */
  readonly addressedTo: string | undefined;
  readonly lease: string | undefined;
  readonly traceparent: string | undefined;
  /** The request's body: a one-step result, or the callback. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The card the callback points to, whenever it was written. */
  readonly card: Readonly<Record<string, unknown>> | undefined;
  /** It was written before the report came. */
  readonly cardWasThere: boolean;
  readonly status: unknown;
  readonly result: unknown;
  readonly error: unknown;
  /** The HTTP status it was answered with. */
  readonly answered: number;
}

export interface Heartbeat {
  readonly order: number;
  readonly answer: "renewed" | "canceled" | "lost";
}

export interface CallTrace {
  deliveries: number;
  releases: number;
  /** Requests for the card that the service gave up while it was kept back. */
  cardsGivenUp: number;
  readonly cardReads: number[];
  readonly heartbeats: Heartbeat[];
  readonly offers: Offer[];
}

export interface CallRecord {
  readonly call: PlannedCall;
  readonly trace: CallTrace;
}

export interface Evidence {
  readonly target: string;
  readonly toolName: string;
  readonly requests: readonly SeenRequest[];
  readonly claims: readonly SeenClaim[];
  readonly registrations: readonly Registration[];
  readonly calls: readonly CallRecord[];
  /** Results for calls that were never given out. */
  readonly strays: readonly Offer[];
  /** The first two calls had different arguments. */
  readonly argumentsDiffer: boolean;
}

export const emptyTrace = (): CallTrace => ({
  deliveries: 0,
  releases: 0,
  cardsGivenUp: 0,
  cardReads: [],
  heartbeats: [],
  offers: [],
});

/** The calls of one scenario, in the order they were made. */
export const callsOf = ({ calls }: Pick<Evidence, "calls">, scenario: string): readonly CallRecord[] =>
  calls.filter(({ call }) => call.scenario === scenario);

/** Not a refusal: the tool was run, whatever word says so. */
export const hasRun = (offer: Offer): boolean => offer.status !== "failed";

/** The content as text, to tell one result from another. */
export const contentText = ({ status, result, error }: Offer): string =>
  JSON.stringify([status, result ?? null, error ?? null]);

export const metadataOf = (card: Readonly<Record<string, unknown>> | undefined): JsonObject =>
  typeof card?.metadata === "object" && card.metadata !== null ? (card.metadata as JsonObject) : {};
