// Subscription patterns: subjects with wildcards. A type of their own, so that a pattern can never be published to and
// a concrete subject can never carry a wildcard.
// `*` stands for exactly one token; `>` only at the end, for one or more. The leading `cg` is never a wildcard.

import { violation } from "../errors/toolplane-error.ts";
import {
  type Category,
  type Component,
  formatSubject,
  MAX_SUBJECT_LENGTH,
  PROTOCOL_VERSION,
  type Subject,
} from "./subject.ts";
import { isToken } from "./token.ts";

export interface SubjectPattern {
  readonly text: string;
  readonly tokens: readonly string[];
}

/** What is left out is `*`; a suffix left out is `>`. */
export interface PatternParts {
  readonly projectId?: string;
  readonly channelId?: string;
  readonly category?: Category | "*";
  readonly component?: Component | "*";
  readonly target?: string;
  readonly suffix?: string;
}

const MIN_TOKENS = 8;

/** What is wrong with the pattern, or undefined. */
const patternFault = (tokens: readonly string[]): string | undefined => {
  if (tokens[0] !== "cg") return "does not start with cg";
  const last = tokens.length - 1;
  for (const [index, token] of tokens.entries()) {
    if (token === ">") {
      if (index !== last) return "has > before its end";
    } else if (token !== "*" && !isToken(token)) {
      return "has a token that is neither a wildcard nor A-Z a-z 0-9 _ -";
    }
  }
  const matchesSubjects = tokens[last] === ">" ? tokens.length > 1 : tokens.length >= MIN_TOKENS;
  return matchesSubjects ? undefined : `has fewer than ${MIN_TOKENS} tokens, so no subject can match`;
};

export const parsePattern = (text: unknown): SubjectPattern => {
  if (typeof text !== "string") throw violation("pattern is not a string");
  if (text.length > MAX_SUBJECT_LENGTH) throw violation(`pattern is longer than ${MAX_SUBJECT_LENGTH} characters`);
  const tokens = text.split(".");
  const fault = patternFault(tokens);
  if (fault !== undefined) throw violation(`pattern ${fault}`);
  return { text, tokens };
};

export const createPattern = (parts: PatternParts = {}): SubjectPattern => {
  const { projectId = "*", channelId = "*", category = "*" } = parts;
  const { component = "*", target = "*", suffix = ">" } = parts;
  // A dot inside a part would shift the meaning of everything after it.
  for (const [name, token] of Object.entries({ projectId, channelId, category, component, target })) {
    if (token !== "*" && !isToken(token)) throw violation(`pattern part ${name} is neither * nor one token`);
  }
  return parsePattern(`cg.${PROTOCOL_VERSION}.${projectId}.${channelId}.${category}.${component}.${target}.${suffix}`);
};

export const matchesPattern = (pattern: SubjectPattern, subject: Subject | string): boolean => {
  const tokens = (typeof subject === "string" ? subject : formatSubject(subject)).split(".");
  const expected = pattern.tokens;
  const open = expected[expected.length - 1] === ">";
  if (open ? tokens.length < expected.length : tokens.length !== expected.length) return false;
  const fixed = open ? expected.length - 1 : expected.length;
  for (let i = 0; i < fixed; i += 1) {
    if (expected[i] !== "*" && expected[i] !== tokens[i]) return false;
  }
  return true;
};
