// How a judge is written: a clause's id, and a verdict from the record alone.

import type { JsonObject } from "@toolplane/protocol";
import { fail, notApplicable, pass, type Verdict } from "../../../conform/verdict.ts";
import type { HostClauseId } from "../clauses.ts";
import { askedIn, errorTypeOf, type HostEvidence } from "../evidence.ts";

export type Judge = (evidence: HostEvidence) => Verdict;
export type Judges = Partial<Record<HostClauseId, Judge>>;

const MAX_SHOWN = 80;

/** A piece of what a host said, for a person. */
export const show = (text: string): string =>
  JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}...` : text);

/** Why a step without an answer cannot be judged. */
export const unanswered = (evidence: HostEvidence, tag: string, what: string): Verdict => {
  const died = evidence.conversations.some(({ diedIn }) => diedIn === tag);
  if (askedIn(evidence, tag).length === 0)
    return notApplicable(`${what} was not asked for: the host did not come that far`);
  return fail(died ? `the host ended instead of answering ${what}` : `${what} was not answered`);
};

/** Looks at the answer of a step; a text says what is wrong with it. */
export const judgeAnswer = (
  evidence: HostEvidence,
  tag: string,
  what: string,
  findFault: (answer: JsonObject) => string | undefined,
): Verdict => {
  const answer = askedIn(evidence, tag)[0]?.answers[0];
  if (answer === undefined) return unanswered(evidence, tag, what);
  const fault = findFault(answer);
  return fault === undefined ? pass(`${what} is answered as it should be`) : fail(fault);
};

export const wantsType =
  (type: string, what: string) =>
  (answer: JsonObject): string | undefined => {
    if (answer.ok === true) return `${what} succeeds`;
    const said = errorTypeOf(answer);
    return said === type ? undefined : `${what} is answered with type ${show(String(said))}, not ${type}`;
  };
