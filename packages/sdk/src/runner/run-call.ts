// The life of one accepted command: lease kept, card read, secrets injected, tool run, result handed over.
//
//   accepted --card, pin, secrets--> started --value or error--> settled
//       |                               |--deadline------------> settled (timeout)
//       |--anything wrong-------------------------------------> settled (failed)
//       |                               |--canceled, lost------> nothing to say
//       |--lease over, and the plane does not renew it---------> nothing to say: it may be another's by now
//       |--shutdown--> released         |--shutdown------------> released (safe) or settled (outcome_unknown)
//
//   I1. Every way through ends in at most one delivery.  I8. What leaves has passed the scrubber.

import { childTraceparent, HEADERS } from "@toolplane/protocol";
import { WAIT_OVER } from "../ports/clock.ts";
import { withFields } from "../ports/log.ts";
import { executeCall } from "./execute-call.ts";
import { finishCall } from "./finish-call.ts";
import { createLeaseKeeper } from "./lease-keeper.ts";
import { planDeadline } from "./plan-run.ts";
import type { RunSignal } from "./run-signal.ts";
import type { AcceptedCommand, CallEnd, Run, RunningDeps } from "./run-state.ts";

export const runCall = async (accepted: AcceptedCommand, signal: RunSignal, deps: RunningDeps): Promise<CallEnd> => {
  const { command, context, payload, toolCallId } = accepted;
  const { clock, gateway, ids } = deps;
  const log = withFields(deps.log, { tool: payload.tool_name, call: toolCallId });
  const profile = deps.executor.find(payload.tool_name);
  const deadline = planDeadline({
    receivedAt: clock.now(),
    timeoutSeconds: profile?.timeoutSeconds,
    runDeadline: command.runDeadline,
  });
  const held = command.lease && { toolCallId, leaseId: command.lease.id };
  const keeper =
    command.lease && held && createLeaseKeeper({ gateway, clock, log, run: signal, held, lease: command.lease });
  const over = new AbortController();
  void clock.sleep(deadline - clock.now(), over.signal).then(() => {
    if (!over.signal.aborted) signal.end("deadline");
  });
  const run: Run = {
    ...accepted,
    deps,
    signal,
    profile,
    deadline,
    traceparent: childTraceparent(context.headers[HEADERS.traceparent] ?? "", ids),
    keeper,
    log,
    metadata: undefined,
    scrubber: deps.ownScrubber,
    started: false,
    leftBehind: false,
    crash: undefined,
  };
  deps.active.add(run);
  try {
    if (keeper !== undefined && keeper.expiresAt() <= clock.now()) {
      // This process stood still, or its clock was set: the plane says whose the call is.
      const verdict = await keeper.beat();
      if (verdict !== "renewed" || signal.signal.aborted) {
        log.warn(
          "a call is not started: its lease had ended, and the plane did not renew it; the call may be canceled, or another service may have it",
        );
        return { report: { outcome: "lost", toolCallId, toolName: payload.tool_name } };
      }
    }
    const end = await executeCall(run);
    over.abort(WAIT_OVER);
    return await finishCall(run, end);
  } finally {
    deps.active.delete(run);
    over.abort(WAIT_OVER);
    keeper?.stop();
  }
};
