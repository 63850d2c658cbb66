// The end of a host, and the extensions it agreed on.

import { isFilled, isRecord, type JsonObject } from "@toolplane/protocol";
import { HOST_ERROR_TYPES, HOST_EXTENSIONS, LOG_LEVELS } from "@toolplane/protocol/host";
import { fail, judgeEach, notApplicable, pass, type Verdict } from "../../../conform/verdict.ts";
import {
  answeredValue,
  askedIn,
  type Conversation,
  type Ending,
  errorTypeOf,
  type HostEvidence,
  isEvent,
} from "../evidence.ts";
import { type Judge, type Judges, judgeAnswer, show } from "./judge.ts";
import { outcomeFault } from "./methods.ts";

const hasStep = ({ said }: Conversation, tag: string): boolean => said.some((one) => one.tag === tag);

const endFault = (ending: Ending | undefined): string | undefined => {
  if (ending === undefined || ending.kind === "running") return "the host did not come that far";
  if (ending.kind === "late") return "the host was still running when patience was over";
  if (ending.signal !== null) return `the host was ended by ${ending.signal}`;
  return ending.code === 0 ? undefined : `the host exited with code ${ending.code}`;
};

const judgeEnd = (evidence: HostEvidence, tag: string): Verdict => {
  const conversation = evidence.conversations.find((one) => hasStep(one, tag));
  if (conversation === undefined) return notApplicable("the host did not come that far");
  const fault = endFault(conversation.farewell);
  return fault === undefined ? pass("the host exited with code 0") : fail(fault);
};

const ifAgreed =
  (extension: string, judge: Judge): Judge =>
  (evidence) =>
    evidence.conversations.some(({ extensions }) => extensions.includes(extension))
      ? judge(evidence)
      : notApplicable(`the host did not agree on ${extension}`);

const helloFault = (answer: JsonObject): string | undefined => {
  if (answer.ok === false) return undefined;
  const value = answeredValue(answer);
  const given = isRecord(value) ? value.extensions : undefined;
  if (!Array.isArray(given)) return "hello is answered without a list of extensions";
  const strange = given.find((name) => !HOST_EXTENSIONS.some((known) => known === name));
  return strange === undefined ? undefined : `hello is answered with ${show(String(strange))}, which was not asked for`;
};

const judgeCancel: Judge = (evidence) => {
  for (const tag of ["cancel-unknown", "cancel"]) {
    if (askedIn(evidence, tag)[0]?.answers[0] === undefined) return fail(`cancel was not answered`);
  }
  const answer = askedIn(evidence, "canceled")[0]?.answers[0];
  if (answer === undefined) return fail("the canceled request was never answered");
  const stopped = errorTypeOf(answer);
  // A tool that fails anyway may have failed before its cancellation arrived.
  const ordinary = errorTypeOf(askedIn(evidence, "execute")[0]?.answers[0]);
  if (stopped === undefined || stopped === HOST_ERROR_TYPES.canceled || stopped === ordinary)
    return pass(stopped === undefined ? "the request was quicker than its cancellation" : "the request was canceled");
  return fail(`the canceled request is answered with type ${show(stopped)}, not ${HOST_ERROR_TYPES.canceled}`);
};

const judgeShutdown: Judge = (evidence) => {
  const last = askedIn(evidence, "last-before-shutdown")[0];
  if (last !== undefined && last.answers.length === 0) return fail("what ran at the shutdown was not answered");
  return judgeEnd(evidence, "shutdown");
};

const logFault = (message: JsonObject): string | undefined => {
  const payload = isRecord(message.event) ? message.event.payload : undefined;
  if (!isRecord(payload) || !isFilled(payload.message)) return "a log event has no message";
  return LOG_LEVELS.some((level) => level === payload.level)
    ? undefined
    : `a log event has the level ${show(String(payload.level))}`;
};

const judgeLogs: Judge = ({ conversations }) => {
  const logs = conversations.flatMap(({ extensions, heard }) =>
    heard.flatMap(({ message }) =>
      isEvent(message) && isRecord(message.event) && message.event.type === "log"
        ? [{ message, agreed: extensions.includes("log") }]
        : [],
    ),
  );
  return judgeEach(
    logs,
    ({ message, agreed }) => (agreed ? logFault(message) : "a log event came although it was not agreed on"),
    { good: "every log event has a level and a message", none: "no log event was seen" },
  );
};

export const lifeJudges: Judges = {
  "HOST-C22": (evidence) => judgeEnd(evidence, "last"),
  "HOST-C23": (evidence) => judgeAnswer(evidence, "last", "what ran at the end of stdin", () => undefined),
  "HOST-C24": (evidence) => judgeAnswer(evidence, "hello", "hello", helloFault),
  "HOST-C25": ifAgreed("ping", (evidence) =>
    judgeAnswer(evidence, "ping", "ping", (answer) => (answer.ok === true ? undefined : "ping fails")),
  ),
  "HOST-C26": ifAgreed("cancel", judgeCancel),
  "HOST-C27": ifAgreed("shutdown", judgeShutdown),
  "HOST-C28": ifAgreed("deadline", (evidence) =>
    judgeAnswer(evidence, "deadline", "execute_tool with deadline_ms", outcomeFault),
  ),
  "HOST-C29": judgeLogs,
};
