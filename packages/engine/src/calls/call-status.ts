// Where a call is: see call.ts for how it gets from one to the other.

import { isResultStatus, type ResultStatus } from "@toolplane/protocol";

export type LiveStatus = "queued" | "running" | "awaiting_approval";
export type CallStatus = LiveStatus | ResultStatus;

export const isSettled = (status: CallStatus): status is ResultStatus => isResultStatus(status);
