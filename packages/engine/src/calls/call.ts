// A call: one tool invocation, from its tool.call card to its one settlement.
//
// queued --lease--> running --settle--> success | failed | canceled | timeout | partial
//   ^                 |
//   +----release------+   the holder did not start it
//   +----lapse--------+   the holder is gone and the tool is `retry: safe`; otherwise the call settles outcome_unknown
//
// A call that needs a person's approval begins as awaiting_approval, and a yes puts it into the queue. A call that waits settles too when it is
// canceled, denied or out of time.
//
// CallFacts never change once the call exists, so they may be remembered anywhere. What does change (status, lease,
// settlement) is only ever decided by a conditional UPDATE in the database.

import type { ValuesOf } from "../sql/columns.sql.ts";
import type { FACTS, viewOf } from "./call-columns.sql.ts";

export { type CallStatus, isSettled } from "./call-status.ts";

export interface CallKey {
  readonly projectId: string;
  readonly toolCallId: string;
}

export type CallFacts = ValuesOf<typeof FACTS>;
export type CallView = ReturnType<typeof viewOf>;

export const callKey = (key: CallKey): string => `${key.projectId}/${key.toolCallId}`;
