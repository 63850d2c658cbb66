// What a turn tells, before it is a row of the outbox.

import type { MessageRow } from "../outbox/messages.sql.ts";
import type { Ids } from "../ports/ids.ts";
import type { TurnRow } from "./turn-row.ts";

export interface TurnMeans {
  readonly ids: Ids;
  readonly nowMs: number;
}

/** What a turn tells: packed with what else its transaction tells of it (pack-events.ts). */
export interface TurnEvent {
  readonly turn: TurnRow;
  readonly epoch: number;
  readonly kind: "state" | "step" | "task";
  readonly msgType: string;
  readonly messageId: string;
  readonly payload: string;
  readonly means: TurnMeans;
}

/** A message of a turn: an event, or a row as it is. */
export type TurnMessage = TurnEvent | MessageRow;
