// The callback payload: how the call ended and where its result card is. Exactly three fields are written. On reading,
// extensions are ignored, identity and inline data refused. Written by hand because every call passes here.

import { ToolplaneError } from "../errors/toolplane-error.ts";
import { isFilled, isRecord } from "../json/json-value.ts";
import {
  AFTER_EXECUTIONS,
  type AfterExecution,
  isAfterExecution,
  isResultStatus,
  RESULT_STATUSES,
  type ResultStatus,
} from "../results/value-sets.ts";
import { badPayload, checkPayloadKeys, type KeyRules, REFUSED_IN_CALLBACK } from "./refused-fields.ts";

export interface CallbackPayload {
  readonly status: ResultStatus;
  readonly after_execution: AfterExecution;
  readonly tool_result_card_id: string;
}

export interface CallbackPolicy {
  /** Refuse unknown keys too. */
  readonly strict?: boolean;
  readonly boundary?: string;
}

const KEYS: KeyRules = {
  known: new Set(["status", "after_execution", "tool_result_card_id"]),
  refused: REFUSED_IN_CALLBACK,
};

export const parseCallbackPayload = (input: unknown, policy: CallbackPolicy = {}): CallbackPayload => {
  const boundary = policy.boundary ?? "callback";
  if (!isRecord(input)) throw badPayload(boundary, "the payload is not an object");
  checkPayloadKeys(input, KEYS, boundary, policy.strict);
  const { status, after_execution, tool_result_card_id } = input;
  if (!isFilled(tool_result_card_id)) {
    throw badPayload(boundary, "missing required fields tool_result_card_id", { fields: ["tool_result_card_id"] });
  }
  if (!isResultStatus(status)) {
    throw new ToolplaneError("invalid_status", `${boundary}: status must be one of ${RESULT_STATUSES.join(", ")}`);
  }
  if (!isAfterExecution(after_execution)) {
    const words = AFTER_EXECUTIONS.join(" or ");
    throw new ToolplaneError("invalid_after_execution", `${boundary}: after_execution must be ${words}`);
  }
  return { status, after_execution, tool_result_card_id };
};
