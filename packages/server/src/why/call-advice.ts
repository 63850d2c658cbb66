// What a person can do about a call that did not succeed. Advice about a request (cli/error-line.ts) does not fit here: a tool that
// says `not_found` means something in its own world, not a name on the command line.

import { ERROR_TABLE, isErrorCode, isFilled, isRecord } from "@toolplane/protocol";

const CAUSE = "see the cause with: toolplane calls show ID";
const AGAIN = "make it again with: toolplane calls retry ID";
const LOOK_FIRST = `look at what the tool did before you ${AGAIN}`;

/** Each line is tried against the situation that its code names: call-advice.test.ts, tests/long/failing-tools.long.ts. */
const ADVICE: Readonly<Record<string, string>> = {
  tool_error: `correct the arguments, or ${CAUSE}`,
  internal_error: `the tool failed in a way that it did not declare: ${CAUSE}`,
  bad_request: "correct the arguments: the message names the one that is wrong",
  not_found: `the tool did not find what it was asked for; correct the arguments, or ${CAUSE}`,
  upstream_unavailable: `see that what the tool depends on runs; ${CAUSE}`,
  tool_timeout:
    "give the tool more time (timeoutSeconds in defineTool, timeout_seconds in Python and in a definition's options), or find out what holds it up",
  queue_timeout: `start a service of its target, then ${AGAIN}`,
  canceled: AGAIN,
  outcome_unknown: `${CAUSE}, and ${LOOK_FIRST}`,
  approval_denied: AGAIN.replace("make it again", "if the person agrees now, make it again"),
  approval_expired: `let a person decide in time, then ${AGAIN}`,
  auth_failed: "set the variable that the message names where the tool runs, and allow it",
  result_too_large: "let the tool return less, or a pointer to the rest",
  result_not_serializable: "let the tool return plain JSON: the message says what is not",
  definition_changed: "start a service with the definition that the call was made under, or make a new call",
  breaker_open: `mend what the message names, then ${AGAIN}`,
};

const byTable = (code: string): string =>
  isErrorCode(code) && ERROR_TABLE[code].retry === "later" ? `in a moment, ${AGAIN}` : CAUSE;

export interface LostService {
  /** As it named itself: target, machine, process. */
  readonly holder: string;
}

/** The plane knows only that the service fell silent: why is in the log of that service. */
export const lookInLog = ({ holder }: LostService): string =>
  `look into the log of service ${holder}, which stopped answering while it had the call`;

const adviceForLost = (code: string, lost: LostService): string =>
  code === "outcome_unknown" ? `${lookInLog(lost)}; ${LOOK_FIRST}` : `${lookInLog(lost)}, then ${AGAIN}`;

/** `lost`: the call has this code because its service went away. */
export const adviceForCall = (code: string, id: string, lost?: LostService | undefined): string =>
  (lost === undefined ? (ADVICE[code] ?? byTable(code)) : adviceForLost(code, lost)).replaceAll("ID", id);

/** The plane settles a call under these codes when its service fell silent, and says which it was. */
const LOST_CODES: ReadonlySet<string> = new Set(["outcome_unknown", "upstream_unavailable"]);

/** The service that was lost, as the error of the call says it. */
export const lostServiceOf = (code: string, error: unknown): LostService | undefined => {
  const detail = isRecord(error) && isRecord(error.detail) ? error.detail : {};
  return LOST_CODES.has(code) && isFilled(detail.holder) ? { holder: detail.holder } : undefined;
};
