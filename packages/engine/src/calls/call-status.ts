// Where a call is: see call.ts for how it gets from one to the other.

import type { ResultStatus } from "@toolplane/protocol";

export type LiveStatus = "queued" | "running" | "awaiting_approval";
export type CallStatus = LiveStatus | ResultStatus;

const SETTLED: ReadonlySet<string> = new Set(["success", "failed", "canceled", "timeout", "partial"]);
export const isSettled = (status: CallStatus): status is ResultStatus => SETTLED.has(status);
