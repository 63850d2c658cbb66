// What the tool protocol asks for as far as a host can break it: whose answer is whose, one answer, nothing from a malformed call.

import { isRecord, type JsonObject } from "@toolplane/protocol";
import { fail, judgeEach, notApplicable, pass } from "../../../conform/verdict.ts";
import { type Asked, answeredValue, askedIn } from "../evidence.ts";
import { SESSION_KEY } from "../walk.ts";
import { type Judge, type Judges, show } from "./judge.ts";

const NO_TOOL = "there is no tool to call";

const isTools = (value: unknown): boolean => Array.isArray(value);
const isOutcome = (value: unknown): boolean => isRecord(value) && typeof value.success === "boolean";

/** Only what is certainly another method's answer; a wrong shape is the fault of that method. */
const swapFault = ({ said, answers }: Asked): string | undefined => {
  const values = answers.map(answeredValue);
  if (said.method === "execute_tool")
    return values.some(isTools) ? "execute_tool was answered with the tools" : undefined;
  return values.some(isOutcome) ? `${said.method} was answered with the outcome of a call` : undefined;
};

const judgeCanceled: Judge = (evidence) => {
  const [asked] = askedIn(evidence, "canceled");
  if (asked === undefined) return notApplicable("the host did not agree on cancel");
  return asked.answers.length > 1
    ? fail(`the canceled request was answered ${asked.answers.length} times`)
    : pass("the canceled request was answered once");
};

const ranFault = ({ said, answers }: Asked): string | undefined => {
  const ran = answers.find((answer) => {
    const value = answeredValue(answer);
    return isRecord(value) && value.success === true;
  });
  if (ran === undefined) return undefined;
  const { tool_name: toolName, arguments: args } = said.params;
  const shown = ([name, value]: readonly [string, unknown]): string =>
    value === undefined ? `no ${name}` : `${name} ${show(JSON.stringify(value))}`;
  const about = [["tool_name", toolName] as const, ["arguments", args] as const].map(shown).join(" and ");
  return `a malformed call ran and succeeded, with ${about}`;
};

const leakFault =
  (secret: string) =>
  ({ said, answers }: Asked): string | undefined =>
    answers.some((answer: JsonObject) => JSON.stringify(answer).includes(secret))
      ? `the answer to ${said.method} holds the state of another session`
      : undefined;

export const identityJudges: Judges = {
  "HOST-C30": (evidence) =>
    judgeEach(askedIn(evidence, "mixed"), swapFault, { good: "every answer is of its request's kind", none: NO_TOOL }),
  "HOST-C31": judgeCanceled,
  "HOST-C32": (evidence) =>
    judgeEach(askedIn(evidence, "malformed"), ranFault, { good: "no malformed call ran", none: NO_TOOL }),
  "HOST-C33": (evidence) => {
    const secret = askedIn(evidence, "session")[0]?.said.params.state;
    const marker = isRecord(secret) ? String(secret[SESSION_KEY]) : undefined;
    if (marker === undefined) return notApplicable(NO_TOOL);
    const good = "no state of another session came back";
    return judgeEach(askedIn(evidence, "other-session"), leakFault(marker), { good, none: NO_TOOL });
  },
};
