// What a person can do about a call that did not succeed. Advice about a request (error-line.ts) does not fit here: a tool that says
// `not_found` means something in its own world, not a name on the command line.

import { ERROR_TABLE, isErrorCode } from "@toolplane/protocol";

const CAUSE = "see the cause with: toolplane calls show ID";

const ADVICE: Readonly<Record<string, string>> = {
  tool_error: `correct the arguments, or ${CAUSE}`,
  bad_request: "correct the arguments",
  tool_timeout: "give the tool more time (timeout_seconds of its options), or find out what holds it up",
  queue_timeout: "start a service of its target, then make it again with: toolplane calls retry ID",
  canceled: "make it again with: toolplane calls retry ID",
  outcome_unknown: "look at what the tool did before you make it again with: toolplane calls retry ID",
  approval_denied: "see who denied it with: toolplane why ID",
  approval_expired: "ask for approval in time, then make it again with: toolplane calls retry ID",
  auth_failed: "set the variable that the message names where the tool runs",
  result_too_large: "let the tool return less, or a pointer to the rest",
};

const byTable = (code: string): string =>
  isErrorCode(code) && ERROR_TABLE[code].retry === "later" ? "make it again in a moment" : CAUSE;

export const adviceForCall = (code: string, id: string): string => (ADVICE[code] ?? byTable(code)).replace("ID", id);
