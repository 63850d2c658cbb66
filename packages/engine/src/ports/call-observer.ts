// Observers of calls: told after the commit, in this process only. For display, never for decisions: what must not be missed is
// in the tables.

import type { CallFacts, CallStatus } from "../calls/call.ts";

export type CallChange = Pick<
  CallFacts,
  "projectId" | "toolCallId" | "agentId" | "channelId" | "agentTurnId" | "toolName" | "headless"
> & {
  readonly status: CallStatus;
};

export type CallObserver = (change: CallChange) => void;

export const nobodyWatches: CallObserver = () => {};
