// The columns of a call, each described once. Types, bound arrays, INSERT lists, what settled calls keep and the mapping to the
// nouns of call.ts are made of these tables; docs/decisions/0029-one-description-per-row.md.
//   FACTS   given when the call is made, never changed, remembered anywhere
//   TERMS   given when the call is made, used by statements; only some of them are shown
//   COURSE  the queue and the lease: written by statements, kept as they were when the call settles
//   OUTCOME the settlement; a live call has none

import type { AfterExecution } from "@toolplane/protocol";
import {
  type GivenOf,
  given,
  inputOf,
  kept,
  namesOf,
  type RowOf,
  readerOf,
  selectOf,
  valuesOf,
} from "../sql/columns.sql.ts";
import type { CallStatus } from "./call-status.ts";

export interface Lineage {
  readonly step_id?: string;
  readonly trace_id?: string;
  readonly parent_step_id?: string;
}

const text = () => given<string>("text");
const textOrNull = () => given<string | null>("text");
const time = () => kept<Date | null>();
const json = <Value>() => given<Value, string>("text", { read: (stored) => JSON.parse(stored) as Value });

export const FACTS = {
  projectId: text(),
  toolCallId: text(),
  agentId: text(),
  agentTurnId: text(),
  turnEpoch: given<number>("bigint", { select: (column) => `${column}::float8` }),
  stepId: text(),
  headless: given<boolean>("boolean"),
  channelId: text(),
  providerCallId: textOrNull(),
  toolName: text(),
  toolVersion: given<number>("integer"),
  definitionHash: text(),
  subject: text(),
  target: text(),
  /** The actor that the command is sent to; only its result counts. */
  actorId: text(),
  afterExecution: given<AfterExecution>("text"),
  callCardId: text(),
  callCardHash: text(),
  /** The command's headers as sent. */
  headers: json<Readonly<Record<string, string>>>(),
  /** step_id, trace_id, parent_step_id of the tool.call card, copied verbatim into the result. */
  lineage: json<Lineage>(),
  recursionDepth: given<number>("integer"),
  traceId: text(),
  retrySafe: given<boolean>("boolean"),
  plain: given<boolean>("boolean"),
  timeoutSeconds: given<number>("double precision"),
  /** The key of its session; null when it has none. */
  session: textOrNull(),
} as const;

const SHOWN_TERMS = { idempotencyKey: textOrNull(), retryOf: textOrNull() } as const;

const TERMS = {
  ...SHOWN_TERMS,
  queueTimeoutSeconds: given<number>("double precision"),
  argumentsHash: text(),
  chainHash: text(),
} as const;

const COURSE = {
  attempts: kept<number>(),
  /** How often its command was sent; more than once only where a bus beside the database carries it. */
  publishes: kept<number>(),
  leaseHolder: kept<string | null>(),
  leaseExpiresAt: time(),
  runDeadline: time(),
  queueDeadline: kept<Date>(),
  availableAt: kept<Date | null>({ select: (column) => `nullif(${column}, 'infinity')` }),
  createdAt: kept<Date>(),
  startedAt: time(),
  /** The card of the decision about it, linked before its result; only of calls that need one. */
  approvalHash: kept<string | null>(),
} as const;

const OUTCOME = {
  settledAt: time(),
  settledBy: kept<string | null>(),
  resultCardId: kept<string | null>(),
  resultHash: kept<string | null>(),
  errorCode: kept<string | null>(),
} as const;

const VIEW = {
  ...FACTS,
  ...SHOWN_TERMS,
  ...COURSE,
  ...OUTCOME,
  status: kept<CallStatus>(),
  leaseId: kept<string | null>(),
} as const;

export type FactRow = RowOf<typeof FACTS>;
export type ViewRow = RowOf<typeof VIEW>;
export const factsOf = readerOf(FACTS);
export const viewOf = readerOf(VIEW);
/** The facts of a call that is being made. */
export const factsOfMade: (row: DispatchRow) => ReturnType<typeof factsOf> = valuesOf(FACTS);

/** For the alias `c`. */
export const FACT_COLUMNS = selectOf(FACTS);
export const VIEW_COLUMNS = selectOf(VIEW);

/** Columns that a call keeps unchanged when it moves to the past calls. */
export const KEPT_COLUMNS = namesOf({ ...FACTS, ...TERMS, ...COURSE });
export const KEPT_OF_CALL = namesOf({ ...FACTS, ...TERMS, ...COURSE }, "c");
/** What a dispatch gives to the call's row. */
export const MADE_COLUMNS = namesOf({ ...FACTS, ...TERMS });

/** For the events of a call (eventLine); no column of its row. */
export const EVENT_LINE = { lineBefore: text(), lineAfter: text() } as const;

/** A call as it is made: its row, its card, its command. */
const DISPATCH = {
  ...FACTS,
  ...TERMS,
  ...EVENT_LINE,
  status: given<"queued" | "awaiting_approval">("text"),
  /** The definition that a service must name to get it (`pin: strict`); null: any service of the target may have it. */
  pin: textOrNull(),
  trusted: given<boolean>("boolean"),
  chainSeq: given<number>("integer"),
  notBeforeMs: given<number | null>("double precision"),
  cardBody: text(),
  /** The command's payload, only when an external bus carries commands. */
  commandPayload: textOrNull(),
  /** The service that waits for it here, and the lease it gets if no due call waits for the same target. */
  leaseId: textOrNull(),
  leaseHolder: textOrNull(),
  leaseSeconds: given<number | null>("double precision"),
} as const;

export type DispatchRow = GivenOf<typeof DISPATCH>;
export const DISPATCH_INPUT = inputOf(DISPATCH);
