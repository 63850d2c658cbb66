// What was seen of a service: the requests it made and what became of each call it was given. Written by the scripted
// plane while the scenarios run, read by the judges when they are over.

import type { JsonObject } from "@toolplane/protocol";
import type { Transport } from "./clauses.ts";
import type { LeaseAnswer, PlannedCall } from "./planned-call.ts";

export interface SeenRequest {
  /** `PUB` over NATS. */
  readonly method: string;
  /** The path, or the subject. */
  readonly path: string;
  /** The Authorization header carried the token, as a bearer token. */
  readonly hasToken: boolean;
  /** The path or subject belongs to the API of tool services. */
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

/** A question to the gateway over NATS. */
export interface Question {
  readonly projectId: string;
  readonly actor: string;
  readonly operation: string;
  readonly subject: string;
  readonly callId: string | undefined;
  readonly turnId: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The call it is about, as far as that can be told. */
  readonly record: CallRecord | undefined;
}

/** A result as it was handed over, in one step or as a report that points to a card. */
export interface Offer {
  readonly order: number;
  readonly form: "one-step" | "report";
  /** The call the request names: in its path, or in its CG-Tool-Call-Id header. */
  readonly addressedTo: string | undefined;
  readonly lease: string | undefined;
  readonly traceparent: string | undefined;
  /** What its headers say about the call, spelled as on the bus. */
  readonly headers: Readonly<Record<string, string>>;
  /** The request's body: a one-step result, or the callback. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The card the callback points to, whenever it was written. */
  readonly card: Readonly<Record<string, unknown>> | undefined;
  /** It was written before the report came. */
  readonly cardWasThere: boolean;
  readonly status: unknown;
  readonly result: unknown;
  readonly error: unknown;
  /** The HTTP status of the answer; over NATS the header CG-Status. */
  readonly answered: number;
}

export interface Heartbeat {
  readonly order: number;
  readonly answer: "renewed" | "canceled" | "lost";
}

export interface LeaseRequest {
  readonly order: number;
  readonly answer: LeaseAnswer;
}

export type SettlementWord = "ack" | "nak" | "term" | "progress";

/** A command as a message of the stream, and what the service said about it. */
export interface SentCommand {
  readonly sequence: number;
  readonly words: { readonly order: number; readonly word: SettlementWord }[];
  /** True when the service ended with this command in hand or never fetches; judges then leave the command out. */
  abandoned: boolean;
}

export interface CallTrace {
  deliveries: number;
  releases: number;
  /** Requests for the card that the service gave up while it was kept back. */
  cardsGivenUp: number;
  readonly cardReads: number[];
  readonly heartbeats: Heartbeat[];
  readonly offers: Offer[];
  /** Over NATS. */
  readonly leases: LeaseRequest[];
  readonly commands: SentCommand[];
}

export interface CallRecord {
  readonly call: PlannedCall;
  readonly trace: CallTrace;
}

export interface Evidence {
  readonly transport: Transport;
  /** The project the service was told. */
  readonly projectId: string;
  readonly target: string;
  readonly toolName: string;
  readonly requests: readonly SeenRequest[];
  readonly claims: readonly SeenClaim[];
  readonly registrations: readonly Registration[];
  readonly questions: readonly Question[];
  readonly calls: readonly CallRecord[];
  /** Results for calls that were never given out. */
  readonly strays: readonly Offer[];
  /** The first two calls had different arguments. */
  readonly argumentsDiffer: boolean;
  /** What the tool's definition says; undefined when the service registered none. */
  readonly service: "plain" | "leased" | undefined;
}

/** What the plane itself writes down. */
export type SeenByPlane = Pick<Evidence, "requests" | "claims" | "registrations" | "questions" | "calls" | "strays">;

export const emptyTrace = (): CallTrace => ({
  deliveries: 0,
  releases: 0,
  cardsGivenUp: 0,
  cardReads: [],
  heartbeats: [],
  offers: [],
  leases: [],
  commands: [],
});

/** It fetches from the durable; otherwise it listens on the subject. */
export const isFetching = ({ claims, target }: Pick<Evidence, "claims" | "target">): boolean =>
  claims.some((claim) => claim.target === target);

/** A service over NATS that takes no leases: its tool says so, or nothing says that it should. */
export const isPlain = ({ transport, service, calls }: Pick<Evidence, "transport" | "service" | "calls">): boolean =>
  transport === "nats" &&
  (service === "plain" || (service === undefined && calls.every(({ trace }) => trace.leases.length === 0)));

/** The calls of one scenario, in the order they were made. */
export const callsOf = ({ calls }: Pick<Evidence, "calls">, scenario: string): readonly CallRecord[] =>
  calls.filter(({ call }) => call.scenario === scenario);

/** A command of the stream that the service will not get again: it can be published again from the call's row. */
export const isTerminated = ({ trace }: Pick<CallRecord, "trace">): boolean =>
  trace.commands.some(({ words }) => words.some(({ word }) => word === "term"));

/** Not a refusal: the tool was run, whatever word says so. */
export const hasRun = (offer: Offer): boolean => offer.status !== "failed";

/** The content as text, to tell one result from another. */
export const contentText = ({ status, result, error }: Offer): string =>
  JSON.stringify([status, result ?? null, error ?? null]);

export const metadataOf = (card: Readonly<Record<string, unknown>> | undefined): JsonObject =>
  typeof card?.metadata === "object" && card.metadata !== null ? (card.metadata as JsonObject) : {};
