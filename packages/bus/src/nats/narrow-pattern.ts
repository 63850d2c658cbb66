// The part of a pattern that lies in a stream: a JetStream server accepts a consumer's filter only when all of it does.

import { parsePattern, type SubjectPattern, violation } from "@toolplane/protocol";

/** What both patterns match: the narrower token at each place; `>` extends as far as the other pattern has tokens. */
export const narrowPattern = (pattern: SubjectPattern, stream: SubjectPattern): SubjectPattern => {
  const tokens: string[] = [];
  const length = Math.max(pattern.tokens.length, stream.tokens.length);
  for (let at = 0; at < length; at++) {
    const one = tokenAt(pattern, at);
    const other = tokenAt(stream, at);
    const token = meet(one, other);
    if (token === undefined) throw violation(`no subject of ${stream.text} matches the pattern`);
    tokens.push(token);
  }
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
