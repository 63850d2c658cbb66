// How a host answers wrong lines, and that it survives them.

import { isFilled, isRecord } from "@toolplane/protocol";
import { HOST_ERROR_TYPES } from "@toolplane/protocol/host";
import { fail, judgeEach, pass } from "../../../conform/verdict.ts";
import { askedIn, type HostEvidence, isAnswer, namelessAfter } from "../evidence.ts";
import { type Judges, judgeAnswer, show, unanswered, wantsType } from "./judge.ts";

/** The answer to a request that cannot be read may have its id or none. */
const judgeUnreadable = (evidence: HostEvidence, tag: string, what: string, type: string) => {
  const answer = askedIn(evidence, tag)[0]?.answers[0] ?? namelessAfter(evidence, tag)[0];
  if (answer === undefined) return unanswered(evidence, tag, what);
  const fault = wantsType(type, what)(answer);
  return fault === undefined ? pass(`${what} is ${type}`) : fail(fault);
};

const BAD_STEPS = new Set([
  "malformed",
  "after-malformed",
  "unknown-method",
  "not-json",
  "version",
  "missing",
  "bad",
  "after-bad",
  "unknown-tool",
]);

export const faultJudges: Judges = {
  "HOST-C16": (evidence) =>
    judgeAnswer(
      evidence,
      "unknown-method",
      "an unknown method",
      wantsType(HOST_ERROR_TYPES.method, "an unknown method"),
    ),
  "HOST-C17": (evidence) => {
    const what = "a line that is not JSON";
    const answer = namelessAfter(evidence, "not-json")[0];
    if (answer === undefined) return unanswered(evidence, "not-json", what);
    const fault = wantsType(HOST_ERROR_TYPES.parse, what)(answer);
    return fault === undefined ? pass(`${what} is ${HOST_ERROR_TYPES.parse}`) : fail(fault);
  },
  "HOST-C18": (evidence) => judgeUnreadable(evidence, "version", "a request with v 2", HOST_ERROR_TYPES.version),
  "HOST-C19": (evidence) =>
    judgeUnreadable(evidence, "missing", "execute_tool without tool_name and arguments", HOST_ERROR_TYPES.params),
  "HOST-C20": (evidence) =>
    judgeEach(
      evidence.conversations
        .flatMap(({ heard }) => heard)
        .flatMap(({ message }) => (isAnswer(message) && message.ok === false ? [message] : [])),
      ({ error }) => {
        if (!isRecord(error)) return "a failure has no error object";
        if (!isFilled(error.type)) return "an error has no type";
        return typeof error.detail === "string" ? undefined : `the detail of ${show(error.type)} is not text`;
      },
      { good: "every failure has a type and a detail", none: "nothing failed" },
    ),
  "HOST-C21": (evidence) => {
    const died = evidence.conversations.find(({ diedIn }) => diedIn !== undefined && BAD_STEPS.has(diedIn));
    if (died !== undefined) return fail(`the host ended in the step ${show(died.diedIn ?? "")}`);
    return judgeAnswer(evidence, "after-bad", "an ordinary request after lines that make no sense", () => undefined);
  },
};
