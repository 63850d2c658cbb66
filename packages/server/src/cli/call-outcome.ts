// How the end of a call is shown: its result on stdout; what went wrong on stderr, in one line.

import { isRecord } from "@toolplane/protocol";
import type { Body } from "@toolplane/sdk/client";
import { adviceForCall } from "../why/call-advice.ts";
import { parseText, textOf } from "./body.ts";
import type { CommandContext } from "./command.ts";
import { EXIT } from "./exit-code.ts";

/** The result of a settled call, printed; resolves to the exit code. */
export const showOutcome = ({ output }: CommandContext, call: Body): number => {
  const id = parseText(call, "tool_call_id");
  const status = textOf(call, "status") ?? "failed";
  if (output.json) output.data(call);
  else if (status === "success" || status === "partial") output.value(call.result ?? null);
  if (status === "success") return EXIT.ok;
  const error = isRecord(call.error) ? call.error : {};
  const code = textOf(error, "code") ?? textOf(call, "error_code") ?? "unknown_error";
  const message = textOf(error, "message") ?? `the call ended as ${status}`;
  const advice = adviceForCall(code, id, error.detail);
  output.note(`toolplane: ${code}: ${message}; ${advice}${advice.includes(id) ? "" : ` (call ${id})`}`);
  return EXIT.failed;
};
