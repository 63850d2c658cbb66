// Foreign regular expressions, on an engine whose time grows linearly with the text (SEC-10). It has no look-around and no
// back-references: a schema that needs them is refused when it is registered, with the reason, instead of blocking a thread when
// it is used.

import { ToolplaneError } from "@toolplane/protocol";
import { RE2JS } from "re2js";

export interface LinearPattern {
  readonly source: string;
  test(text: string): boolean;
  /** The most steps that `test` takes for this text: each of its characters may meet each instruction. */
  cost(text: string): number;
}

/** The longest patterns people write (e-mail, semantic versions) stay under a few hundred characters. */
const MAX_PATTERN_LENGTH = 2_000;

/** Instructions of the compiled program; bounds the work per character of text. `a{1000}` has a thousand. */
const MAX_PROGRAM_SIZE = 4_000;

/** Measured: a character takes some 100 ns, and up to 4 ns for each instruction it meets. */
const INSTRUCTIONS_PER_STEP = 32;

const refused = (why: string, cause?: unknown): ToolplaneError =>
  new ToolplaneError("bad_request", `the pattern ${why}`, { cause });

const reasonOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : "unreadable";
  const prefix = "error parsing regexp: ";
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
};

/** The engine reads `\\k` as a plain k, which is not what an author of a named group means. */
const refersBack = (source: string): boolean => {
  for (let i = 0; i < source.length - 1; i++) {
    if (source[i] !== "\\") continue;
    if (source[i + 1] === "k") return true;
    i++;
  }
  return false;
};

export const parseLinearPattern = (source: string): LinearPattern => {
  if (source.length > MAX_PATTERN_LENGTH) throw refused(`is longer than ${MAX_PATTERN_LENGTH} characters`);
  if (refersBack(source)) throw refused("refers back to a group, which takes more than linear time");
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(RE2JS.translateRegExp(source));
  } catch (error) {
    throw refused(
      `cannot be matched in linear time or is not a regular expression (look-around and back-references are not supported): ${reasonOf(error)}`,
      error,
    );
  }
  const size = compiled.programSize();
  if (size > MAX_PROGRAM_SIZE) throw refused("is too large once its repetitions are written out");
  const perCharacter = 1 + size / INSTRUCTIONS_PER_STEP;
  return {
    source,
    test: (text) => compiled.test(text),
    cost: (text) => 1 + Math.ceil(text.length * perCharacter),
  };
};

/** Whether a schema with this pattern can be registered. */
export const isLinearPattern = (source: string): boolean => {
  try {
    parseLinearPattern(source);
    return true;
  } catch {
    return false;
  }
};
