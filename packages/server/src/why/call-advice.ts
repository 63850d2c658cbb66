// What a person can do about a call that did not succeed. Advice about a request (cli/error-line.ts) does not fit here: a tool that
// says `not_found` means something in its own world, not a name on the command line.
// Advice is about the thing that failed: an answer of an API, an address that may not be asked, a missing variable and a wrong
// definition are told apart by the error's detail. Of the detail only numbers and names of variables and services are repeated, because a
// tool may write anything into it.

import { ERROR_TABLE, isErrorCode, isRecord } from "@toolplane/protocol";
import { isEnvName } from "@toolplane/protocol/registry";

const CAUSE = "see the cause with: toolplane calls show {call}";
const AGAIN = "make it again with: toolplane calls retry {call}";
/** The message says what to correct. */
const AS_SAID = `correct that, then ${AGAIN}`;
const WHERE = "for the program that runs the tool, and start that program again";
const ITS_WORDS = "see the words of the API with: toolplane calls show {call}";
const LOOK_FIRST = `look at what the tool did before you ${AGAIN}`;

/** Each line is tried against the situation that its code names: call-advice.test.ts, tests/long/failing-tools.long.ts. */
const ADVICE: Readonly<Record<string, string>> = {
  tool_error: `correct the arguments, or ${CAUSE}`,
  internal_error: `the tool failed in a way that it did not declare: ${CAUSE}`,
  bad_request: "correct the arguments: the message names the one that is wrong",
  not_found: `the tool did not find what it was asked for; correct the arguments, or ${CAUSE}`,
  upstream_unavailable: `see that what the tool depends on runs; ${CAUSE}`,
  tool_timeout:
    "give the tool more time (timeoutSeconds in defineTool; timeout_seconds in Python, in a definition's options, and in the entry of an API or MCP server), or find out what holds it up",
  queue_timeout: `start a service of its target, then ${AGAIN}`,
  canceled: AGAIN,
  outcome_unknown: `${CAUSE}, and ${LOOK_FIRST}`,
  approval_denied: AGAIN.replace("make it again", "if the person agrees now, make it again"),
  approval_expired: `let a person decide in time, then ${AGAIN}`,
  auth_failed: `the tool was not allowed to do this: correct what the message names, or ${CAUSE}`,
  result_too_large: "ask for less, or let the tool return less or a pointer to the rest",
  result_not_serializable: "let the tool return plain JSON: the message says what is not",
  definition_changed: "start a service with the definition that the call was made under, or make a new call",
  breaker_open: `mend what the message names, then ${AGAIN}`,
};

/** The answer of an API, by its status; a status that is not here has the advice of its class. */
const OF_STATUS: Readonly<Record<number, string>> = {
  401: `the API wants a credential that it accepts: see the auth of the definition, and the value of its variable; ${ITS_WORDS}`,
  402: `the API wants to be paid: see to the account that the credential belongs to; ${ITS_WORDS}`,
  403: `the API does not let this credential do that: give it the right, or use another one; ${ITS_WORDS}`,
  404: `the API has nothing at this address: correct the arguments; ${ITS_WORDS}`,
  408: `the API gave up waiting for the request; in a moment, ${AGAIN}`,
  429: `the API takes no more requests for now; later, ${AGAIN}`,
  451: `the API may not give this out: ask for something else; ${ITS_WORDS}`,
};

const ofStatus = (
  status: number,
  { retry_after_seconds: seconds, variable }: Readonly<Record<string, unknown>>,
): string => {
  if (status === 401 && typeof variable === "string" && isEnvName(variable))
    return `the API does not accept the value of ${variable}: correct it ${WHERE}; ${ITS_WORDS}`;
  if (status === 429 && typeof seconds === "number")
    return `the API takes no more requests for now; in ${seconds} s, ${AGAIN}`;
  const known = OF_STATUS[status];
  if (known !== undefined) return known;
  if (status >= 500) return `the API itself failed: see that it runs; ${ITS_WORDS}`;
  if (status >= 400) return `the API refused the request: correct the arguments; ${ITS_WORDS}`;
  return `the API did not do what was asked; ${ITS_WORDS}`;
};

/** A request that was refused before it left had no effect; one that a redirect ended may have had one. */
const ofAddress = (detail: Readonly<Record<string, unknown>>): string => {
  if (detail.redirected_from !== undefined)
    return `let the tool ask the right address itself, and look at what the API did before you ${AGAIN}`;
  return typeof detail.todo === "string"
    ? AS_SAID
    : `correct the address, or add its host to the allowed ones, then ${AGAIN}`;
};

/** What the error's detail says about the thing that failed. */
const byDetail = (code: string, detail: unknown): string | undefined => {
  if (!isRecord(detail)) return undefined;
  const { status_code: status, variable, host, definition, limit } = detail as Readonly<Record<string, unknown>>;
  if (definition !== undefined && code === "bad_request")
    return `correct the tool's definition: the message names the key; then ${AGAIN}`;
  if (typeof status === "number") return ofStatus(status, detail);
  if (code === "auth_failed" && typeof variable === "string" && isEnvName(variable))
    return typeof detail.project_id === "string" ? AS_SAID : `set ${variable} ${WHERE}, then ${AGAIN}`;
  if (code === "auth_failed" && typeof host === "string") return ofAddress(detail);
  if (code === "upstream_unavailable" && typeof host === "string" && detail.sent === false)
    return `see that it runs and can be reached from where the tool runs, then ${AGAIN}`;
  if (code === "upstream_unavailable" && typeof host === "string")
    return `see that this host can be reached from where the tool runs, and look at what it did before you ${AGAIN}`;
  if (code === "result_too_large" && typeof host === "string")
    return "ask for less: a smaller page, fewer fields, or another operation of the API";
  if (code === "tool_timeout" && limit === "timeout_s")
    return "give the API more time (timeout_s of the definition), or find out why it is slow";
  return undefined;
};

const byTable = (code: string): string =>
  isErrorCode(code) && ERROR_TABLE[code].retry === "later" ? `in a moment, ${AGAIN}` : CAUSE;

/** The plane settles a call under these codes when its service fell silent, and says which it was. */
const LOST_CODES: ReadonlySet<string> = new Set(["outcome_unknown", "upstream_unavailable", "tool_timeout"]);

/** As services name themselves: `shop@host:7`, in Python `tool.shop (host, pid 7)`, in the plane's own process `shop (process 7 on host)`. */
const HOLDER =
  /^[\w.@:/-]{1,200}$|^[\w.-]{1,100} \((?:[\w.-]{1,100}, pid \d{1,10}|process \d{1,10} on [\w.-]{1,100})\)$/;

/**
 * The plane knows only that it heard nothing in time: the log of the service says why, unless the plane itself was away. A holder that does not look
 * like a service's name is not shown, because the service chooses that text.
 */
export const lookInLog = (holder: string): string =>
  `look into the log of ${HOLDER.test(holder) ? `service ${holder}` : "its service"}, which was not heard in time while it had the call; the plane or the network may have been away`;

/** Where to look when the service of the call was lost. */
const byLostService = (code: string, detail: unknown): string | undefined => {
  const holder = isRecord(detail) ? detail.holder : undefined;
  if (!LOST_CODES.has(code) || typeof holder !== "string" || !HOLDER.test(holder)) return undefined;
  if (code === "outcome_unknown") return `${lookInLog(holder)}; ${LOOK_FIRST}`;
  return code === "tool_timeout"
    ? `${ADVICE.tool_timeout}; the log of service ${holder}, which sent no result, says whether it still runs`
    : `${lookInLog(holder)}, then ${AGAIN}`;
};

/** `detail`: of the call's error. */
export const adviceForCall = (code: string, id: string, detail?: unknown): string =>
  (byLostService(code, detail) ?? byDetail(code, detail) ?? ADVICE[code] ?? byTable(code)).replaceAll("{call}", id);
