// One call on its way through the pool: waiting, in a process, waiting again after a crash, settled once.

import type { JsonObject, JsonValue, ToolplaneError } from "@toolplane/protocol";
import type { HostResponse } from "@toolplane/protocol/host";
import type { HostProcess } from "./host-process.ts";
import type { JobPlace, RunningJob } from "./running-job.ts";

export type TaskEnd =
  | { readonly kind: "answer"; readonly response: HostResponse }
  | { readonly kind: "failed"; readonly error: ToolplaneError };

export interface TaskRequest {
  readonly method: string;
  readonly params: (process: JobPlace, msLeft: number) => JsonObject;
  readonly retrySafe: boolean;
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
  readonly emit: ((part: JsonValue) => void) | undefined;
  readonly settle: (end: TaskEnd, task: PoolTask) => void;
}

/** Mutable on purpose: there is one per call, on the hot path, and the pool alone writes it. */
export interface PoolTask {
  readonly request: TaskRequest;
  readonly deadlineAt: number;
  /** Requests that were given to a process. */
  attempts: number;
  /** Starts that failed while it waited. */
  failedStarts: number;
  parts: number;
  partBytes: number;
  /** Where it runs; undefined while it waits. */
  place: { readonly process: HostProcess; readonly running: RunningJob } | undefined;
  pid: number | undefined;
  written: boolean;
  settled: boolean;
  stopListening: () => void;
}

export const createPoolTask = (request: TaskRequest, now: number): PoolTask => ({
  request,
  deadlineAt: now + request.deadlineMs,
  attempts: 0,
  failedStarts: 0,
  parts: 0,
  partBytes: 0,
  place: undefined,
  pid: undefined,
  written: false,
  settled: false,
  stopListening: () => undefined,
});
