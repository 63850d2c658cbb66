// What became of a call, for its caller: the result, or a typed error that knows the call's id.

import {
  type ErrorCode,
  isErrorCode,
  isRecord,
  isResultStatus,
  type JsonValue,
  ToolplaneError,
} from "@toolplane/protocol";
import { strangeBody } from "./strange-answer.ts";
import type { Body } from "./way.ts";

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

export const isOver = (call: Body): boolean => isResultStatus(call.status);

export const callIdOf = (call: Body): string => {
  const id = textOf(call.tool_call_id);
  if (id === undefined) throw strangeBody("its answer has no tool_call_id");
  return id;
};

/** For an error without a code of its own: the code that follows from how the call ended. */
const BY_STATUS: Readonly<Record<string, ErrorCode>> = {
  canceled: "canceled",
  timeout: "tool_timeout",
  partial: "tool_error",
};

/** An error as the wire has it. When the code is the tool's own, the error is `tool_error` and its detail holds the code. */
export const errorOf = (said: unknown, call: Body = {}): ToolplaneError => {
  const error = isRecord(said) ? said : {};
  const own = textOf(error.code);
  const status = textOf(call.status);
  const code = isErrorCode(own) ? own : own === undefined ? (BY_STATUS[status ?? ""] ?? "unknown_error") : "tool_error";
  const detail = {
    ...(isRecord(error.detail) ? error.detail : error.detail === undefined ? {} : { detail: error.detail }),
    ...(own === undefined || own === code ? {} : { code: own }),
    ...(status === undefined ? {} : { status }),
    ...(status === "partial" ? { result: call.result } : {}),
  };
  return new ToolplaneError(code, textOf(error.message) ?? `the call ended as ${status ?? "failed"}`, {
    detail: Object.keys(detail).length === 0 ? undefined : detail,
    callId: textOf(call.tool_call_id),
  });
};

const stillRunning = (call: Body): ToolplaneError => {
  const id = callIdOf(call);
  return new ToolplaneError(
    "still_running",
    `call ${id} is ${textOf(call.status) ?? "running"} at the end of the wait`,
    {
      detail: { status: call.status, todo: "wait for it by its id, or ask why it waits" },
      callId: id,
    },
  );
};

/** The result of a call that succeeded; throws what became of any other. */
export const resultOf = (call: Body): JsonValue => {
  if (call.status === "success") return (call.result ?? null) as JsonValue;
  throw isOver(call) ? errorOf(call.error, call) : stillRunning(call);
};
