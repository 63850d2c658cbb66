// A call: one tool invocation, from its tool.call card to its one settlement.
//
// queued --lease--> running --settle--> success | failed | canceled | timeout | partial
//   ^                 |
//   +----release------+   the holder did not start it
//   +----lapse--------+   the holder is gone and the tool is `retry: safe`; otherwise the call settles outcome_unknown
//
// CallFacts never change once the call exists, so they may be remembered anywhere. What does change (status, lease,
// settlement) is only ever decided by a conditional UPDATE in the database.

import type { ValuesOf } from "../sql/columns.sql.ts";
import type { FACTS, viewOf } from "./call-columns.sql.ts";

export type { Lineage } from "./call-columns.sql.ts";
export { type CallStatus, isSettled, type LiveStatus } from "./call-status.ts";

export interface CallKey {
  readonly projectId: string;
  readonly toolCallId: string;
}

export type CallFacts = ValuesOf<typeof FACTS>;
export type CallView = ReturnType<typeof viewOf>;

export const callKey = (key: CallKey): string => `${key.projectId}/${key.toolCallId}`;
