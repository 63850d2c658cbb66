// A batch: work that one call split among several agents. The call waits for it, suspended; the batch holds its lease.
//
//   task:   pending --spawn--> dispatched --turn ended--> success | failed | canceled | timeout | partial
//              |  ^ busy, 2 4 8 16 s        `--stopped---> canceled
//              |  |____|  5th: failed
//              `--batch closes--> canceled
//   batch:  running --every task has ended--> success | partial | failed | timeout, and its call settles with it
//
//   BT1. All tasks, their agents, the batch and the hand-over of the call are one commit: all of it exists, or nothing.
//   BT2. A child and the task's record of it are one commit: no child is made twice, none is forgotten (W-27).
//   BT3. The outcome of a child is read from its turn, never from a message; a message only says when to look (I13).
//   BT4. A batch closes when its deadline has passed, a task failed under fail_fast, or its call has ended. Closing first stops
//        the children and then ends the batch: when the result is there, no child runs any more. Nothing is stored about
//        closing: the reasons stay true, so the next process goes on closing.
//   BT5. The end of the batch and the settlement of its call are one commit, by one process.

import type { JsonObject, ResultStatus } from "@toolplane/protocol";

export type BatchStatus = "running" | "success" | "partial" | "failed" | "timeout";
export type TaskStatus = "pending" | "dispatched" | ResultStatus;

export interface BatchKey {
  readonly projectId: string;
  readonly batchId: string;
}

/** What one task asks for; kept with the task until its child is made. */
export interface BatchTaskAsk {
  readonly agentId: string;
  readonly targetStrategy: "new" | "reuse" | "clone";
  readonly instruction: string;
  readonly profileBoxId: string;
  readonly inheritBoxIds: readonly string[];
}

export interface NewBatch extends BatchKey {
  /** The call that waits, and the lease under which it is handed over. */
  readonly toolCallId: string;
  readonly leaseId: string;
  readonly toolName: string;
  readonly agentId: string;
  readonly agentTurnId: string;
  readonly stepId: string | null;
  readonly channelId: string;
  readonly recursionDepth: number;
  readonly traceId: string | null;
  readonly failFast: boolean;
  readonly deadlineSeconds: number;
  readonly tasks: readonly BatchTaskAsk[];
}

export interface BatchTaskView {
  readonly taskIndex: number;
  readonly status: TaskStatus;
  readonly agentId: string;
  readonly agentTurnId: string | null;
  readonly outputBoxId: string | null;
  readonly attempts: number;
  readonly error: string | null;
  readonly resultView: JsonObject | null;
}

export interface BatchView extends BatchKey {
  readonly status: BatchStatus;
  readonly parentToolCallId: string;
  readonly failFast: boolean;
  readonly deadlineAt: Date;
  readonly endedAt: Date | null;
  readonly tasks: readonly BatchTaskView[];
}

/** Ids derived from the call: a repeated command finds them. */
export const batchIdOf = (toolCallId: string): string => `batch_${toolCallId}`;
/** Whether a turn's correlation may name a task of a batch. */
export const isTaskName = (correlationId: string): boolean => correlationId.startsWith("batch_");
export const batchTaskIdOf = (batchId: string, taskIndex: number): string => `${batchId}_${taskIndex}`;

/** The actor that speaks for the project manager's tools and ends batches. */
export const PMO_ACTOR = "sys.pmo";
export const BATCH_MANAGER = "sys.pmo.batch_manager";
