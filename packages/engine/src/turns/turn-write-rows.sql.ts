// The rows that a turn writes, as inputs of the one statement that writes them.

import { CARD_COLUMNS, type CardRow } from "../cards/cards.sql.ts";
import { MESSAGE_COLUMNS, type MessageRow, SENT_COLUMNS } from "../outbox/messages.sql.ts";
import type { InputFields } from "../sql/input.sql.ts";
import type { SpawnRow } from "./spawn.sql.ts";
import type { AgentKey } from "./turn.ts";
import type { TurnMessage } from "./turn-event.ts";

/** A card of a turn is a link of its chain. */
export interface TurnCardRow extends CardRow {
  readonly chainSeq: number | null;
  readonly chainHash: string | null;
}

export const cards: InputFields<TurnCardRow> = [
  ...CARD_COLUMNS,
  ["chainSeq", "integer"],
  ["chainHash", "text"],
  ["ttlSeconds", "double precision"],
];

/** One row per box; `cardIds` is a JSON array, because arrays of arrays do not unnest. */
export interface BoxGrowth {
  readonly projectId: string;
  readonly boxId: string;
  readonly fresh: boolean;
  readonly cardIds: string;
}

export const boxes: InputFields<BoxGrowth> = [
  ["projectId", "text"],
  ["boxId", "text"],
  ["fresh", "boolean"],
  ["cardIds", "text"],
];

export interface StepWrite {
  readonly projectId: string;
  readonly agentId: string;
  readonly stepId: string;
  readonly agentTurnId: string;
  readonly channelId: string;
  readonly parentStepId: string | null;
  readonly traceId: string;
  readonly status: string;
  /** JSON arrays; null keeps what is there. */
  readonly toolCallIds: string | null;
  readonly newCardIds: string | null;
  readonly error: string | null;
  readonly metadata: string | null;
  readonly requestHash: string | null;
  readonly outcome: string | null;
  readonly ended: boolean;
}

export const steps: InputFields<StepWrite> = [
  ["projectId", "text"],
  ["agentId", "text"],
  ["stepId", "text"],
  ["agentTurnId", "text"],
  ["channelId", "text"],
  ["parentStepId", "text"],
  ["traceId", "text"],
  ["status", "text"],
  ["toolCallIds", "text"],
  ["newCardIds", "text"],
  ["error", "text"],
  ["metadata", "text"],
  ["requestHash", "text"],
  ["outcome", "text"],
  ["ended", "boolean"],
];

/** The whole head as it shall be: its row is locked, so no other change can be overwritten. */
export interface HeadWrite {
  readonly projectId: string;
  readonly agentId: string;
  readonly status: string;
  readonly activeAgentTurnId: string | null;
  readonly activeChannelId: string | null;
  readonly turnEpoch: number;
  readonly activeRecursionDepth: number;
  readonly parentStepId: string | null;
  readonly traceId: string | null;
  readonly profileBoxId: string | null;
  readonly contextBoxId: string | null;
  readonly outputBoxId: string | null;
  readonly waitingToolCount: number;
  readonly chainSeq: number;
  readonly chainHash: string | null;
  readonly lastOutputBoxId: string | null;
  /** Seconds that a suspended turn has left; null: as before, or no limit. */
  readonly resumeSeconds: number | null;
}

export const heads: InputFields<HeadWrite> = [
  ["projectId", "text"],
  ["agentId", "text"],
  ["status", "text"],
  ["activeAgentTurnId", "text"],
  ["activeChannelId", "text"],
  ["turnEpoch", "bigint"],
  ["activeRecursionDepth", "integer"],
  ["parentStepId", "text"],
  ["traceId", "text"],
  ["profileBoxId", "text"],
  ["contextBoxId", "text"],
  ["outputBoxId", "text"],
  ["waitingToolCount", "integer"],
  ["chainSeq", "integer"],
  ["chainHash", "text"],
  ["lastOutputBoxId", "text"],
  ["resumeSeconds", "double precision"],
];

/** Heads that do not change while their agents' queues grow; they are touched, so that a reader of both notices. */
export const touched: InputFields<AgentKey> = [
  ["projectId", "text"],
  ["agentId", "text"],
];

export interface TurnWrite {
  readonly projectId: string;
  readonly agentTurnId: string;
  /** `active`: dispatched now, or still going on; otherwise how it ended. */
  readonly status: string;
  readonly stepCount: number;
  readonly turnEpoch: number;
  readonly deliverableCardId: string | null;
  readonly error: string | null;
  readonly errorCode: string | null;
  readonly endClaimId: string | null;
  readonly chainSeq: number | null;
  readonly chainHash: string | null;
  readonly dispatched: boolean;
  readonly ended: boolean;
}

export const turns: InputFields<TurnWrite> = [
  ["projectId", "text"],
  ["agentTurnId", "text"],
  ["status", "text"],
  ["stepCount", "integer"],
  ["turnEpoch", "bigint"],
  ["deliverableCardId", "text"],
  ["error", "text"],
  ["errorCode", "text"],
  ["endClaimId", "text"],
  ["chainSeq", "integer"],
  ["chainHash", "text"],
  ["dispatched", "boolean"],
  ["ended", "boolean"],
];

export interface InboxChange {
  readonly projectId: string;
  readonly inboxId: string;
  readonly status: string;
  /** Null keeps the epoch of the row. */
  readonly turnEpoch: number | null;
  readonly claimId: string | null;
  readonly claimSeconds: number | null;
  readonly worker: string | null;
  /** Added to the retries. */
  readonly retries: number;
  /** Seconds until it is looked at again. */
  readonly delaySeconds: number;
  readonly reason: string | null;
  readonly error: string | null;
}

export const changes: InputFields<InboxChange> = [
  ["projectId", "text"],
  ["inboxId", "text"],
  ["status", "text"],
  ["turnEpoch", "bigint"],
  ["claimId", "text"],
  ["claimSeconds", "double precision"],
  ["worker", "text"],
  ["retries", "integer"],
  ["delaySeconds", "double precision"],
  ["reason", "text"],
  ["error", "text"],
];

export interface InboxInsert {
  readonly projectId: string;
  readonly inboxId: string;
  readonly agentId: string;
  readonly channelId: string;
  readonly messageType: string;
  readonly correlationId: string;
  readonly agentTurnId: string;
  readonly turnEpoch: number;
  readonly contextHeaders: string;
  readonly payload: string;
  readonly status: string;
  readonly claimId: string | null;
  readonly claimSeconds: number | null;
  readonly worker: string | null;
}

export const arrivals: InputFields<InboxInsert> = [
  ["projectId", "text"],
  ["inboxId", "text"],
  ["agentId", "text"],
  ["channelId", "text"],
  ["messageType", "text"],
  ["correlationId", "text"],
  ["agentTurnId", "text"],
  ["turnEpoch", "bigint"],
  ["contextHeaders", "text"],
  ["payload", "text"],
  ["status", "text"],
  ["claimId", "text"],
  ["claimSeconds", "double precision"],
  ["worker", "text"],
];

export interface AppliedCall {
  readonly projectId: string;
  readonly toolCallId: string;
  /** Its result's link in the chain, once it has one. */
  readonly chainSeq: number | null;
  readonly chainHash: string | null;
}

export const applied: InputFields<AppliedCall> = [
  ["projectId", "text"],
  ["toolCallId", "text"],
  ["chainSeq", "integer"],
  ["chainHash", "text"],
];

export const messages: InputFields<MessageRow> = MESSAGE_COLUMNS;

/** Events of one turn in one row (pack-events.ts). */
export interface ParcelRow extends Omit<MessageRow, "messageId"> {
  readonly events: number;
}

export const parcels: InputFields<ParcelRow> = [...SENT_COLUMNS, ["events", "integer"]];

export interface Wakeup {
  readonly projectId: string;
  readonly agentId: string;
  readonly channelId: string;
  readonly headers: string;
  readonly payload: string;
  /** Only for watchdogs: one wakeup that was not heard yet is enough. */
  readonly messageId: string | null;
}

export const wakeups: InputFields<Wakeup> = [
  ["projectId", "text"],
  ["agentId", "text"],
  ["channelId", "text"],
  ["headers", "text"],
  ["payload", "text"],
  ["messageId", "text"],
];

export interface TurnWrites {
  /** Turns that begin here. */
  readonly spawned: SpawnRow[];
  readonly cards: TurnCardRow[];
  readonly boxes: BoxGrowth[];
  readonly steps: StepWrite[];
  readonly heads: HeadWrite[];
  readonly touched: AgentKey[];
  readonly turns: TurnWrite[];
  readonly changes: InboxChange[];
  readonly arrivals: InboxInsert[];
  readonly applied: AppliedCall[];
  /** What is told; events are packed into parcels when it is written. */
  readonly messages: TurnMessage[];
  readonly wakeups: Wakeup[];
}

/** The same as it is written. */
export interface PackedWrites extends Omit<TurnWrites, "messages"> {
  readonly messages: readonly MessageRow[];
  readonly parcels: readonly ParcelRow[];
}
