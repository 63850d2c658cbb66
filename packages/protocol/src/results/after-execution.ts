// What the results of a step mean for the turn. The verdict does not depend on any order; which result is named as the
// reason, and with it the task's status, follows the order of the calls.

import type { ToolResultContent } from "../cards/content.ts";
import { isFilled, isRecord } from "../json/json-value.ts";
import { readOverride } from "./control.ts";
import { type AfterExecution, coerceStatus, type ResultStatus } from "./value-sets.ts";

/** A valid override in the result beats the card's own value. */
export const effectiveAfterExecution = (content: ToolResultContent): AfterExecution =>
  readOverride(content.result) ?? content.after_execution;

export interface StepVerdict {
  readonly afterExecution: AfterExecution;
  /** The result that ended the turn: the first failed one that says terminate, else the first that says so. */
  readonly primary: ToolResultContent | undefined;
  /** The status of the turn's task event; only a terminated turn has one. */
  readonly taskStatus: ResultStatus | undefined;
}

/**
 * Over the results of every call of a step, locally failed ones included, in the order in which the step made the calls. So the
 * result named as the reason does not depend on which tool answered first.
 */
export const aggregateStep = (results: readonly ToolResultContent[]): StepVerdict => {
  const terminating = results.filter((content) => effectiveAfterExecution(content) === "terminate");
  const primary = terminating.find((content) => content.status !== "success") ?? terminating[0];
  return {
    afterExecution: primary === undefined ? "suspend" : "terminate",
    primary,
    taskStatus: primary === undefined ? undefined : coerceStatus(primary.status),
  };
};

const wordsIn = (holder: unknown, keys: readonly string[]): string | undefined =>
  isRecord(holder) ? keys.map((key) => holder[key]).find(isFilled) : undefined;

/** The error text of a task event; undefined for success. */
export const taskErrorText = (content: ToolResultContent): string | undefined => {
  if (content.status === "success") return undefined;
  return (
    wordsIn(content.error, ["message", "code"]) ??
    wordsIn(content.result, ["error_message", "error", "error_code"]) ??
    content.status
  );
};
