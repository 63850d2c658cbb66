// Tells the plane that a run has ended whose call the plane had ended before, so that the next call of a limited tool may have the slot. The service
// does not wait for the answer. When the message is lost, the slot is free at the end of the lease.

import type { Run } from "./run-state.ts";

export const letGo = ({ command, toolCallId, keeper, signal, deps }: Run): void => {
  // A lease that was lost holds no slot.
  if (command.lease === undefined || !signal.unwanted.aborted || signal.cause() === "lost") return;
  const until = keeper?.expiresAt() ?? deps.clock.now();
  // The plane refuses the release, as it refuses a late result: the call has ended.
  deps.gateway.release({ toolCallId, leaseId: command.lease.id }, { until: () => until }).catch(() => {});
};
