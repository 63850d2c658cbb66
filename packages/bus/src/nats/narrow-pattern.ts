// The part of a pattern that lies in a stream: a JetStream server accepts a consumer's filter only when all of it does.

import { parsePattern, type SubjectPattern, violation } from "@toolplane/protocol";

/** The narrower token at each place; `>` goes as far as the other pattern has tokens. Undefined: no subject matches both. */
const meetAll = (one: SubjectPattern, other: SubjectPattern): readonly string[] | undefined => {
  const tokens: string[] = [];
  const length = Math.max(one.tokens.length, other.tokens.length);
  for (let at = 0; at < length; at++) {
    const token = meet(tokenAt(one, at), tokenAt(other, at));
    if (token === undefined) return undefined;
    tokens.push(token);
  }
  return tokens;
};

/** Whether a subject may match both. */
export const doOverlap = (one: SubjectPattern, other: SubjectPattern): boolean => meetAll(one, other) !== undefined;

/** What both let through. */
export const narrowPattern = (pattern: SubjectPattern, stream: SubjectPattern): SubjectPattern => {
  const tokens = meetAll(pattern, stream);
  if (tokens === undefined) throw violation(`no subject of ${stream.text} matches the pattern`);
  return parsePattern(tokens.join("."));
};

/** After its end an open pattern continues with `>`, a closed one with nothing. */
const tokenAt = ({ tokens }: SubjectPattern, at: number): string | undefined => {
  const last = tokens[tokens.length - 1];
  return at < tokens.length ? tokens[at] : last === ">" ? ">" : undefined;
};

const meet = (one: string | undefined, other: string | undefined): string | undefined => {
  if (one === undefined || other === undefined) return undefined;
  if (one === ">") return other;
  if (other === ">") return one;
  if (one === "*") return other;
  if (other === "*") return one;
  return one === other ? one : undefined;
};
