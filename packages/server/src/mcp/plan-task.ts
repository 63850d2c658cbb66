// A call as a task of the extension io.modelcontextprotocol/tasks. The task's id is the call's id and its state is the call's row, so
// a task lives as long as its call is kept, whatever process dies. Pure.

import type { CallView } from "@toolplane/engine";
import type { JsonObject, ToolResultContent } from "@toolplane/protocol";
import type { McpToolResult } from "./mcp-content.ts";
import { readFailure } from "./mcp-content.ts";
import type { Questions } from "./mcp-input.ts";

export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

export interface McpTask {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** Null: the task is there until retention removes the call. */
  readonly ttlMs: number | null;
  readonly pollIntervalMs: number;
}

export interface DetailedTask extends McpTask {
  readonly result?: McpToolResult;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject };
  readonly inputRequests?: Questions["requests"];
}

/** A client that polls more often learns nothing earlier that matters to a person. */
const POLL_MS = 1_000;

/** Failures of the plane and not of the tool: there is no tool result to show. */
const NOT_THE_TOOL: ReadonlySet<string> = new Set(["internal_error", "unknown_error", "outcome_unknown"]);

const INTERNAL_ERROR = -32_603;

const WAITING: Readonly<Record<string, string>> = {
  queued: "the call waits for a service that runs it",
  running: "the call runs",
  awaiting_approval: "the call waits until a person approves it",
};

type TaskCall = Pick<CallView, "toolCallId" | "status" | "createdAt" | "startedAt" | "settledAt">;

/** `of` is the round that the task is in; the task keeps the id of the first round. */
export const planTask = (of: TaskCall, first: TaskCall = of): McpTask => {
  const message = WAITING[of.status];
  return {
    taskId: first.toolCallId,
    status: "working",
    ...(message === undefined ? {} : { statusMessage: message }),
    createdAt: first.createdAt.toISOString(),
    lastUpdatedAt: (of.settledAt ?? of.startedAt ?? of.createdAt).toISOString(),
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  };
};

export interface TaskState {
  readonly first: TaskCall;
  readonly of: TaskCall;
  readonly content: ToolResultContent | undefined;
  /** What the client must answer before the task goes on. */
  readonly open: Questions["requests"] | undefined;
  /** The client gave the task up while it was asked something. */
  readonly givenUp: boolean;
  readonly resultOf: () => McpToolResult;
}

export const planDetailedTask = ({ first, of, content, open, givenUp, resultOf }: TaskState): DetailedTask => {
  const task = planTask(of, first);
  if (givenUp || of.status === "canceled") return { ...task, status: "cancelled" };
  if (open !== undefined) return { ...task, status: "input_required", inputRequests: open };
  if (of.settledAt === null) return task;
  if (of.status === "failed") {
    const { code, message } = readFailure(content?.error, of.status);
    if (NOT_THE_TOOL.has(code))
      return {
        ...task,
        status: "failed",
        statusMessage: message,
        error: { code: INTERNAL_ERROR, message, data: { code } },
      };
  }
  return { ...task, status: "completed", result: resultOf() };
};
