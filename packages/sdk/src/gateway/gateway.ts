// The gateway: everything a tool service may ask of the plane. One implementation speaks HTTP, one NATS; inside one process
// another connects service and engine directly. A gateway is bound to one project.
//
//   G1. Claiming takes a lease: only this service may run what `claim` returns, until the lease ends. When the answer of a
//       claim cannot be delivered, its leases are given back.
//   G2. Times are on the service's own clock; an implementation translates the other side's times.
//   G3. With `until`, a failure that may pass (the network, a busy or restarting server) is retried until then, with backoff;
//       without `until` the operation is tried once. So every operation but `claim` and `register` may be sent twice, and
//       the second time changes nothing. A rejection is final, and is a ToolplaneError.
//   G4. `lease_lost`, `already_settled` and `not_found` mean: stop working on the call.
//   G5. `sendParts` never waits and never fails; parts may be lost, results may not.

import type {
  CallbackPayload,
  Card,
  CGContext,
  HeaderMap,
  JsonObject,
  JsonValue,
  ResultStatus,
  ToolDefinition,
} from "@toolplane/protocol";

/** How long an operation may keep trying. */
export interface Patience {
  readonly signal?: AbortSignal | undefined;
  /** Read before every further try: when the lease is extended meanwhile, the deadline moves with it. */
  readonly until?: (() => number) | undefined;
}

/** A service as a gateway in its own process sees it. */
export interface ClaimingService {
  /** How many calls it can start now. */
  room(): number;
}

export interface ClaimRequest {
  readonly target: string;
  readonly max: number;
  /** How long the other side may keep the question open when there is nothing to do. */
  readonly waitMs: number;
  /** The hashes of the definitions this service runs: calls of tools with `pin: strict` come only under one of them. */
  readonly definitions?: readonly string[] | undefined;
  /** Every tool of the service may run twice. */
  readonly retrySafe?: boolean | undefined;
  /**
   * The service, the same object with each of its claims. A gateway in its process may lease calls to it until it claims again, up to its
   * room, and gives them with the next claim; the end of the claim's signal is the end of the service.
   */
  readonly service?: ClaimingService | undefined;
}

export interface Lease {
  readonly id: string;
  /** When the lease ends unless a heartbeat extends it. */
  readonly expiresAt: number;
  /** It is short because the plane does not know yet that it arrived; the first heartbeat makes it a full one. */
  readonly isShort?: boolean | undefined;
}

/** A command as it came, with the right to run it. */
export interface ClaimedCommand {
  readonly subject: string;
  readonly headers: HeaderMap;
  readonly payload: unknown;
  /** Absent only for a command taken from a bus by a service that does not lease. */
  readonly lease?: Lease | undefined;
  /** When the plane will end the run by itself, if it says so. */
  readonly runDeadline?: number | undefined;
  /** The number of this lease: more than 1 after one that lapsed. Absent: the first. */
  readonly attempt?: number | undefined;
  /** The tool runs once under this lease: its rate counts each start. */
  readonly once?: boolean | undefined;
  /** The state of the call's session, for executors that have sessions. */
  readonly session?: JsonObject | undefined;
  /** The tool.call card, if it came along; saves asking for it. */
  readonly card?: unknown;
}

export interface HeldCall {
  readonly toolCallId: string;
  readonly leaseId: string;
}

export interface Beat {
  readonly expiresAt: number;
  /** The call is over (canceled, stopped, timed out): abort the work, there is nothing to report. */
  readonly cancel: boolean;
}

export interface CardRef {
  readonly cardId: string;
  /** The call whose card it should be, when known. */
  readonly toolCallId?: string | undefined;
}

/** One version of a tool: the one that a call was made with. */
export interface DefinitionRef {
  readonly toolName: string;
  readonly version: number;
}

/** What a program says about its failure. */
export interface Diagnostics {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

/** A result in one step; the plane makes the tool.result card from it. */
export interface ServiceResult {
  readonly toolCallId: string;
  readonly leaseId?: string | undefined;
  readonly status: ResultStatus;
  readonly result: JsonValue;
  readonly error: JsonValue;
  /** The definition the code ran under. */
  readonly definitionHash?: string | undefined;
  readonly sessionState?: JsonObject | undefined;
  /** Further ways to show the result. */
  readonly views?: JsonObject | undefined;
  /** The control keys that were taken out of a foreign body, for the plane's audit. */
  readonly strippedControl?: readonly string[] | undefined;
  /** The run's own span. */
  readonly traceparent?: string | undefined;
  /** Why the tool failed, in its program's words: for operators, never in a card. */
  readonly diagnostics?: Diagnostics | undefined;
}

/** The first of the protocol's two steps: the tool.result card itself. */
export interface WrittenCard {
  readonly card: Card;
  /** The lease it is written under; while a lease lives, the plane accepts the card only with that lease. */
  readonly leaseId?: string | undefined;
}

/** The second of the protocol's two steps: a pointer to a card written before. */
export interface Report {
  /** Who reports: the service's actor, outside any turn. */
  readonly source: CGContext;
  /** For which call: the command's context, with the run's own span. */
  readonly target: CGContext;
  readonly payload: CallbackPayload;
  readonly leaseId?: string | undefined;
}

export interface Settled {
  /** Null: no card was made, because the attempt failed and the call is tried again. */
  readonly toolResultCardId: string | null;
  /** The same result had been accepted before. */
  readonly idempotent: boolean;
}

export interface CallParts {
  /** Whose stream the parts go to. */
  readonly context: CGContext;
  readonly toolCallId: string;
  readonly leaseId?: string | undefined;
  readonly parts: readonly { readonly index: number; readonly part: JsonValue }[];
}

export interface RegisteredTool {
  readonly definitionHash: string;
  readonly targetSubject: string;
  /** Whether its calls run only under the definition they were made under. */
  readonly pin?: "strict" | "record" | undefined;
}

export interface SentVersion {
  readonly version: number;
  readonly definitionHash: string;
  /** The tool had this version before, and a newer one is in force. */
  readonly isOlder: boolean;
}

/** What became of a definition that was sent. */
export interface Registration {
  /** The definition calls run under; undefined when a person deleted the tool. It may hold options that a person added. */
  readonly inForce: RegisteredTool | undefined;
  /** The version that was sent, with the options that a person added; absent when the plane does not say. */
  readonly sent?: SentVersion | undefined;
  /** The version that was sent, when it waits for a person to accept it. */
  readonly pending?: { readonly version: number; readonly weakens: readonly string[] } | undefined;
  /** Sentences about what is valid and probably not meant. */
  readonly warnings?: readonly string[] | undefined;
}

export interface ToolGateway {
  readonly projectId: string;
  claim(request: ClaimRequest, signal?: AbortSignal): Promise<readonly ClaimedCommand[]>;
  /** The card as the plane gave it, not yet checked; undefined when this project has none of that id. */
  readCard(ref: CardRef, patience?: Patience): Promise<unknown>;
  heartbeat(held: HeldCall, patience?: Patience): Promise<Beat>;
  /** Gives back a call that was not started, or that another service may start again. */
  release(held: HeldCall, patience?: Patience): Promise<void>;
  settle(settlement: ServiceResult, patience?: Patience): Promise<Settled>;
  putCard(written: WrittenCard, patience?: Patience): Promise<void>;
  report(report: Report, patience?: Patience): Promise<Settled>;
  sendParts(parts: CallParts): void;
  /** The version of the tool, also after the tool was changed or deleted; undefined when there is none. Not yet checked. */
  readDefinition(ref: DefinitionRef, patience?: Patience): Promise<ToolDefinition | undefined>;
  findTool(name: string, patience?: Patience): Promise<RegisteredTool | undefined>;
  register(definition: ToolDefinition, patience?: Patience): Promise<Registration>;
}
