// Observers of calls: told after the commit, in this process only. For display and for measuring, never for decisions: what must
// not be missed is in the tables.

import type { CallFacts, CallStatus } from "../calls/call.ts";

export type CallChange = Pick<
  CallFacts,
  | "projectId"
  | "toolCallId"
  | "agentId"
  | "channelId"
  | "agentTurnId"
  | "stepId"
  | "toolName"
  | "target"
  | "traceId"
  | "headless"
> & {
  readonly status: CallStatus;
  /** The command's headers; as they are stored while the call is being made. */
  readonly headers: string | CallFacts["headers"];
};

/** What is known of the change besides the call itself. */
export interface CallNews {
  /** The call was made by this change. */
  readonly isNew?: boolean | undefined;
  /** Of a new call: its caller brought no trace, so it begins one. */
  readonly beginsTrace?: boolean | undefined;
  /** When its settlement was planned, in milliseconds; the rest of the time was the database's. */
  readonly settlingAt?: number | undefined;
  /** The span of the service that reported the result. */
  readonly traceparent?: string | undefined;
  readonly errorCode?: string | null | undefined;
}

export type CallObserver = (change: CallChange, news?: CallNews) => void;

export const nobodyWatches: CallObserver = () => {};
