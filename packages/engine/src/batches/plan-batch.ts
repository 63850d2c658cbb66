// The decisions about a batch, each a pure function.

import {
  type Backoff,
  backoff,
  ERROR_TABLE,
  isErrorCode,
  isRecord,
  type JsonObject,
  type JsonValue,
  type ResultStatus,
  type ToolplaneError,
} from "@toolplane/protocol";
import type { BatchStatus, TaskStatus } from "./batch.ts";

/** Why its batch canceled a task; stored with the task. */
export type CloseReason = "deadline_exceeded" | "fail_fast" | "parent_ended";

export interface BatchState {
  readonly failFast: boolean;
  readonly overdue: boolean;
  /** The waiting call has ended without the batch: canceled, stopped, timed out. */
  readonly parentEnded: boolean;
  /** Tasks that failed, timed out or were canceled. */
  readonly bad: number;
  /** Tasks that have not ended. */
  readonly open: number;
}

/** A batch whose tasks have all ended closes by itself, whatever the clock says. */
export const planClosing = ({ failFast, overdue, parentEnded, bad, open }: BatchState): CloseReason | undefined => {
  if (open === 0) return undefined;
  if (parentEnded) return "parent_ended";
  if (failFast && bad > 0) return "fail_fast";
  return overdue ? "deadline_exceeded" : undefined;
};

export interface EndedTask {
  readonly status: TaskStatus;
  readonly error: string | null;
}

const BAD: ReadonlySet<TaskStatus> = new Set(["failed", "canceled", "timeout"]);

export const planBatchStatus = (tasks: readonly EndedTask[], failFast: boolean): Exclude<BatchStatus, "running"> => {
  const has = (status: TaskStatus): boolean => tasks.some((task) => task.status === status);
  if (failFast && tasks.some(({ status, error }) => BAD.has(status) && error !== "deadline_exceeded")) return "failed";
  if (tasks.some(({ status, error }) => status === "canceled" && error === "deadline_exceeded")) return "timeout";
  if (tasks.every(({ status }) => status === "success")) return "success";
  if (has("success")) return "partial";
  if (has("failed")) return "failed";
  if (has("timeout")) return "timeout";
  return has("partial") ? "partial" : "failed";
};

/** A busy agent or a database failure recovers within seconds; what does not within half a minute will not soon. */
const RETRY_SECONDS: Backoff = { first: 2, longest: 30 };
const MAX_ATTEMPTS = 5;

export type DispatchFailure =
  | { readonly act: "fail"; readonly error: string }
  | { readonly act: "retry"; readonly seconds: number; readonly error: string };

const statusOf = (code: string): "busy" | "error" | "rejected" => {
  if (code === "agent_busy") return "busy";
  return isErrorCode(code) && ERROR_TABLE[code].retry === "never" ? "rejected" : "error";
};

/** `attempts` counts the one that failed. */
export const planDispatchFailure = ({ code }: Pick<ToolplaneError, "code">, attempts: number): DispatchFailure => {
  const status = statusOf(code);
  const error = `dispatch_${status}:${code}`;
  if (status === "rejected") return { act: "fail", error };
  if (attempts >= MAX_ATTEMPTS) return { act: "fail", error: "dispatch_retry_exhausted" };
  return { act: "retry", seconds: backoff(RETRY_SECONDS, attempts), error };
};

/** Enough to see what an agent found; the whole of it is in its output box. */
const MAX_DIGEST_CHARS = 2_000;
const MAX_DIGEST_FIELDS = 5;

const cut = (text: string, max: number): string => {
  if (text.length <= max) return text;
  return `${text.slice(0, max - 1).toWellFormed()}…`;
};

const plain = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

const fieldsOf = (data: unknown): readonly JsonObject[] | undefined => {
  const fields = isRecord(data) ? data.fields : undefined;
  if (!Array.isArray(fields)) return undefined;
  const named = fields.filter((field): field is JsonObject => isRecord(field) && typeof field.name === "string");
  return named.length === 0 ? undefined : named;
};

/** The first fields as "name: value", or the text. */
export const digestOf = (content: unknown): string => {
  if (!isRecord(content)) return "";
  if (typeof content.text === "string") return cut(content.text, MAX_DIGEST_CHARS);
  const fields = fieldsOf(content.data);
  const text =
    fields === undefined
      ? plain(content.data ?? "")
      : fields
          .slice(0, MAX_DIGEST_FIELDS)
          .map(({ name, value }) => `${plain(name)}: ${plain(value ?? "")}`)
          .join(" | ");
  return cut(text, MAX_DIGEST_CHARS);
};

export interface EndedTurn {
  readonly status: ResultStatus;
  readonly deliverableCardId: string | null;
  /** The deliverable's text; null when it could not be read. */
  readonly deliverableBody: string | null;
  readonly error: string | null;
  readonly errorCode: string | null;
}

const contentOf = (body: string): unknown => {
  try {
    return (JSON.parse(body) as { readonly content?: unknown }).content;
  } catch {
    return undefined;
  }
};

const viewOf = ({ deliverableCardId, deliverableBody }: EndedTurn): JsonObject => {
  if (deliverableCardId === null) return { error_code: "missing_deliverable_card_id" };
  const content = deliverableBody === null ? undefined : contentOf(deliverableBody);
  if (content === undefined) return { deliverable_card_id: deliverableCardId, error_code: "deliverable_read_failed" };
  const fields = isRecord(content) ? fieldsOf(content.data) : undefined;
  return {
    deliverable_card_id: deliverableCardId,
    digest: digestOf(content),
    ...(fields === undefined ? {} : { result_fields: fields.map(({ name }) => name as JsonValue) }),
  };
};

/** What a task keeps of its child's turn. */
export const planTaskEnd = (
  turn: EndedTurn,
): { readonly status: ResultStatus; readonly error: string | null; readonly resultView: JsonObject } => ({
  status: turn.status,
  error: turn.status === "success" ? null : (turn.errorCode ?? turn.error),
  resultView: { ...viewOf(turn), ...(turn.error === null ? {} : { error: cut(turn.error, MAX_DIGEST_CHARS) }) },
});

export interface ReportedTask extends EndedTask {
  readonly taskIndex: number;
  readonly agentId: string;
  readonly outputBoxId: string | null;
  readonly resultView: JsonObject | null;
}

/** The call's result may have 896 KiB; half of it for the tasks' texts leaves room for the rest. */
const MAX_SUMMARIES_CHARS = 400_000;

const reportOf = (task: ReportedTask, maxChars: number): JsonObject => {
  const { digest, deliverable_card_id: cardId } = task.resultView ?? {};
  return {
    task_index: task.taskIndex,
    status: task.status,
    agent_id: task.agentId,
    ...(typeof digest === "string" && digest !== "" ? { summary: cut(digest, maxChars) } : {}),
    ...(task.outputBoxId === null ? {} : { output_box_id: task.outputBoxId }),
    ...(typeof cardId === "string" ? { deliverable_card_id: cardId } : {}),
    ...(task.error === null ? {} : { error: cut(task.error, maxChars) }),
  };
};

export interface BatchResult {
  readonly status: Exclude<BatchStatus, "running">;
  readonly result: JsonObject;
  readonly error?: JsonObject | undefined;
}

/** The result of the call that waited, ordered by task. */
export const planBatchResult = (batchId: string, tasks: readonly ReportedTask[], failFast: boolean): BatchResult => {
  const status = planBatchStatus(tasks, failFast);
  const maxChars = Math.max(Math.floor(MAX_SUMMARIES_CHARS / Math.max(tasks.length, 1)), 1);
  const ordered = [...tasks].sort((a, b) => a.taskIndex - b.taskIndex);
  const result = { status, results: ordered.map((task) => reportOf(task, maxChars)) };
  if (status === "success") return { status, result };
  const good = tasks.filter((task) => task.status === "success").length;
  const message = `${good} of ${tasks.length} tasks succeeded; see results for the others`;
  return { status, result, error: { code: "batch_failed", message, detail: { batch_id: batchId, status } } };
};
