// The lines: what they are made of, whose answers they are, and in which order they come.

import { isRecord } from "@toolplane/protocol";
import { fail, judgeEach, pass, type Verdict } from "../../../conform/verdict.ts";
import { askedIn, type Conversation, type HostEvidence, isAnswer, isEvent } from "../evidence.ts";
import { AT_ONCE } from "../walk.ts";
import { type Judges, judgeAnswer, show, unanswered } from "./judge.ts";

const NOTHING_HEARD = "the host wrote nothing";

const everything = ({ conversations }: HostEvidence) => conversations.flatMap(({ heard }) => heard);
const messages = (evidence: HostEvidence) =>
  everything(evidence).flatMap(({ message }) => (isAnswer(message) || isEvent(message) ? [message] : []));

/** Lines that are not requests may be answered with a failure under any id. */
const isAboutBadLine = ({ said }: Conversation, order: number): boolean =>
  said.some(({ tag, order: at }) => tag === "bad" && at < order);

const findStray = (conversation: Conversation): string | undefined => {
  const counts = new Map<string, number>();
  for (const { message, order } of conversation.heard) {
    if (!isAnswer(message) || message.id === null) continue;
    const id = String(message.id);
    const asked = conversation.said.find((one) => one.id === message.id);
    if (asked === undefined) {
      if (message.ok === false && isAboutBadLine(conversation, order)) continue;
      return `an answer has the id ${show(id)}, which nobody asked`;
    }
    // A second answer to what was canceled has a rule of its own.
    if (asked.tag === "canceled") continue;
    counts.set(id, (counts.get(id) ?? 0) + 1);
    if ((counts.get(id) ?? 0) > 1) return `${asked.method} was answered twice`;
    if (order < asked.order) return `${asked.method} was answered before it was asked`;
  }
  return undefined;
};

const findEventFault = ({ said, heard }: Conversation): string | undefined => {
  for (const { message, order } of heard) {
    if (!isEvent(message)) continue;
    const type = isRecord(message.event) ? message.event.type : undefined;
    if (typeof type !== "string" || type === "") return "an event has no type";
    // A log line of the host itself belongs to no request.
    if (type === "log" && (message.id === null || message.id === undefined)) continue;
    const asked = said.find((one) => one.id !== null && one.id === message.id && one.order < order);
    if (asked === undefined) return `an event has the id ${show(String(message.id))}, which nobody asked`;
    const answered = heard.find((one) => isAnswer(one.message) && one.message.id === message.id);
    if (answered !== undefined && answered.order < order) return `an event of ${asked.method} came after its answer`;
  }
  return undefined;
};

const firstFault = (
  { conversations }: HostEvidence,
  find: (conversation: Conversation) => string | undefined,
  good: string,
): Verdict => {
  for (const conversation of conversations) {
    const fault = find(conversation);
    if (fault !== undefined) return fail(fault);
  }
  return pass(good);
};

export const wireJudges: Judges = {
  "HOST-C01": (evidence) =>
    judgeEach(
      everything(evidence),
      ({ text, message }) => {
        if (isAnswer(message) || isEvent(message)) return undefined;
        if (message !== undefined) return `a line is neither an answer nor an event: ${show(text)}`;
        return `a line is not a JSON object: ${show(text)}`;
      },
      { good: "every line is an answer or an event", none: NOTHING_HEARD },
    ),
  "HOST-C02": (evidence) =>
    judgeEach(messages(evidence), ({ v }) => (v === 1 ? undefined : `a line has v ${show(String(v))}`), {
      good: "every line has v 1",
      none: NOTHING_HEARD,
    }),
  "HOST-C03": (evidence) => firstFault(evidence, findStray, "every id was answered at most once"),
  "HOST-C04": (evidence) =>
    judgeAnswer(evidence, "odd-id", "a request with quotes and other alphabets in its id", () => undefined),
  "HOST-C05": (evidence) => firstFault(evidence, findEventFault, "no event came late or for nobody"),
  "HOST-C06": (evidence) => judgeAnswer(evidence, "carriage-return", "a line that ends in \\r\\n", () => undefined),
  "HOST-C07": (evidence) => judgeAnswer(evidence, "pieces", "a line in pieces", () => undefined),
  "HOST-C08": (evidence) => {
    const asked = askedIn(evidence, "at-once");
    if (asked.length === 0) return unanswered(evidence, "at-once", "many requests at once");
    const answered = asked.filter(({ answers }) => answers.length > 0).length;
    return answered === AT_ONCE
      ? pass(`all ${AT_ONCE} were answered`)
      : fail(`${answered} of ${AT_ONCE} requests that came at once were answered`);
  },
  "HOST-C09": (evidence) => judgeAnswer(evidence, "large", "a request of a megabyte", () => undefined),
};
