// Why a service without a lease cannot give a result to a call: the call may not run yet (offer.sql.ts decides). Pure.

import { ToolplaneError } from "@toolplane/protocol";
import type { CallView } from "./call.ts";

const WHY = {
  approval: "it waits for approval",
  paused: "its tool is paused",
  not_before: "its time has not come",
  session_busy: "its session runs another call",
} as const;

const whyNot = ({ status, availableAt, attempts, session }: CallView, nowMs: number): keyof typeof WHY | undefined => {
  if (status === "awaiting_approval") return "approval";
  if (status !== "queued") return undefined;
  if (availableAt === null) return "paused";
  // A call that was tried before only pauses before its next attempt.
  if (availableAt.getTime() > nowMs && attempts === 0) return "not_before";
  return session === null ? undefined : "session_busy";
};

/** Undefined when nothing forbids it to run. */
export const planNotDue = (view: CallView, leaseId: string | null, nowMs: number): ToolplaneError | undefined => {
  const reason = whyNot(view, nowMs);
  if (reason === undefined || (leaseId !== null && reason !== "approval")) return undefined;
  const message = `call ${view.toolCallId} must not run yet, so it cannot have a result: ${WHY[reason]}`;
  return new ToolplaneError("conflict", message, { detail: { status: view.status, reason } });
};
