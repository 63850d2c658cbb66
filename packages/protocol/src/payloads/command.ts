// The command payload: which card to read, which tool it is for, what its end does to the turn. Nothing else: the call row and
// the card are the truth, and the command only says where to look. Unknown keys are ignored (extensions are allowed), identity
// and inline data are refused. Written by hand because every call passes here.

import { violation } from "../errors/toolplane-error.ts";
import { isFilled, isRecord } from "../json/json-value.ts";
import { AFTER_EXECUTIONS, type AfterExecution, isAfterExecution } from "../results/value-sets.ts";
import { badPayload, checkPayloadKeys, type KeyRules, REFUSED_IN_COMMAND } from "./refused-fields.ts";

export interface CommandPayload {
  readonly tool_call_card_id: string;
  readonly tool_name: string;
  readonly after_execution: AfterExecution;
}

export interface CommandPolicy {
  /** Commands to the internal project tools may leave the tool's name out: their subject has it. */
  readonly route?: "tool" | "internal";
  /** Refuse unknown keys too. */
  readonly strict?: boolean;
  /** Where the command was read; the error names it. */
  readonly boundary?: string;
}

/** For the log, when a command has no name. */
export const UNKNOWN_TOOL_NAME = "unknown";

const KEYS: KeyRules = {
  known: new Set(["tool_call_card_id", "tool_name", "after_execution"]),
  refused: REFUSED_IN_COMMAND,
};

const missingFields = (payload: Readonly<Record<string, unknown>>, route: "tool" | "internal"): string[] => {
  const missing: string[] = [];
  if (!isFilled(payload.tool_call_card_id)) missing.push("tool_call_card_id");
  if (route === "tool" && !isFilled(payload.tool_name)) missing.push("tool_name");
  const after = payload.after_execution;
  if (after === undefined || after === null || (typeof after === "string" && !isFilled(after))) {
    missing.push("after_execution");
  }
  return missing;
};

const NOT_THE_CALLS = { clause: "utp 8.4" } as const;

/** A lease repeats its command's payload: it must be complete and the call's own, and is refused like a command if it carries more. */
export const checkLeasePayload = (
  input: Readonly<Record<string, unknown>>,
  call: { readonly callCardId: string; readonly toolName: string },
): void => {
  const boundary = "lease";
  checkPayloadKeys(input, KEYS, boundary);
  const missing = missingFields(input, "tool");
  if (missing.length > 0)
    throw violation(`the lease lacks ${missing.join(", ")}: send the command's payload as it came`, { missing });
  if (input.tool_call_card_id !== call.callCardId)
    throw violation("tool_call_card_id is not the card of this call", NOT_THE_CALLS);
  if (input.tool_name !== call.toolName) throw violation("tool_name is not the tool of this call", NOT_THE_CALLS);
  if (!isAfterExecution(input.after_execution))
    throw badPayload(boundary, `after_execution must be ${AFTER_EXECUTIONS.join(" or ")}`, {
      fields: ["after_execution"],
    });
};

export const parseCommandPayload = (input: unknown, policy: CommandPolicy = {}): CommandPayload => {
  const boundary = policy.boundary ?? "command";
  if (!isRecord(input)) throw badPayload(boundary, "the payload is not an object");
  checkPayloadKeys(input, KEYS, boundary, policy.strict);
  const { tool_call_card_id, tool_name, after_execution } = input;
  if (isFilled(tool_call_card_id) && isAfterExecution(after_execution)) {
    if (isFilled(tool_name)) return { tool_call_card_id, tool_name, after_execution };
    if (policy.route === "internal") return { tool_call_card_id, tool_name: UNKNOWN_TOOL_NAME, after_execution };
  }
  const missing = missingFields(input, policy.route ?? "tool");
  if (missing.length > 0) {
    throw badPayload(boundary, `missing required fields ${missing.join(", ")}`, { fields: missing });
  }
  const words = AFTER_EXECUTIONS.join(" or ");
  throw badPayload(boundary, `after_execution must be ${words}`, { fields: ["after_execution"] });
};
